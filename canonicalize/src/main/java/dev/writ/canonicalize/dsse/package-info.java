/** DSSE envelopes: a document with its signatures (spec/envelope.md). */
package dev.writ.canonicalize.dsse;
