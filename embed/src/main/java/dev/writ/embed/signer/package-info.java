/**
 * Keys whose secret halves are in no file of ours: those of an ssh agent (spec/keys.md, "Keys in an
 * agent"). Not part of the public API.
 */
package dev.writ.embed.signer;
