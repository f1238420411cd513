/**
 * Signatures: Ed25519 by one acceptance rule, ML-DSA, key files, and the engines that compute them
 * (spec/signatures.md, spec/keys.md).
 */
package dev.writ.canonicalize.crypto;
