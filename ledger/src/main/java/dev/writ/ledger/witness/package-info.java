/** A witness of logs: what it is asked, what it keeps, and when it cosigns (spec/witness.md). */
package dev.writ.ledger.witness;
