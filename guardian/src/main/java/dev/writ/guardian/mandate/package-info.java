/** Mandates that others issued as SD-JWTs, read and verified (spec/mandate.md). */
package dev.writ.guardian.mandate;
