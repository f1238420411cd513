/** Speaks the adapter protocol with an implementation (spec/conformance.md). */
package dev.writ.conform.adapter;
