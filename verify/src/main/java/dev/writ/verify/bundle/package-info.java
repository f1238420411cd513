/** Bundles: their form, export, and verification in Java and in JavaScript (spec/bundle.md). */
package dev.writ.verify.bundle;
