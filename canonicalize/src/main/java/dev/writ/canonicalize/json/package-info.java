/** Strict JSON and its canonical bytes, RFC 8785 (spec/canonical-json.md). */
package dev.writ.canonicalize.json;
