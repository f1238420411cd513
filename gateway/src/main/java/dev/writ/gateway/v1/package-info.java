/** The native API under /v1 (spec/gateway.md). */
package dev.writ.gateway.v1;
