/** The HTTP server of a witness (spec/witness.md). It has no kernel. */
package dev.writ.gateway.witness;
