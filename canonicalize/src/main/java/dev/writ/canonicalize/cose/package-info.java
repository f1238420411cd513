/** Messages of COSE, as far as exports write them (spec/export.md). */
package dev.writ.canonicalize.cose;
