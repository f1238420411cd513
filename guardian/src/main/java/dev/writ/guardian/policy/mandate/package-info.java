/** Mandates that policy accepts, and their accounts (spec/mandate.md). */
package dev.writ.guardian.policy.mandate;
