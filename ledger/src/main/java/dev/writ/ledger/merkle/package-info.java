/** The Merkle tree over the log: roots, inclusion and consistency proofs (RFC 6962). */
package dev.writ.ledger.merkle;
