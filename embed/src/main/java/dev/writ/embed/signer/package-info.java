/**
 * Keys whose secret halves are in no file of ours: those of an ssh agent and of tokens with a
 * PKCS#11 module (spec/keys.md, "Keys in an agent", "Keys in a token"). Not part of the public API.
 */
package dev.writ.embed.signer;
