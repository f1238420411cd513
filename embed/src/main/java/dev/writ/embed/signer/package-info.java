/**
 * Keys whose secret halves are in no file of ours: those of an ssh agent, of tokens with a PKCS#11
 * module, and of services (spec/keys.md, "Keys in an agent", "Keys in a token", "Keys in a cloud's
 * KMS"). Not part of the public API.
 */
package dev.writ.embed.signer;
