/** Recomputes decisions, accounts and chains of a whole ledger (spec/audit.md). */
package dev.writ.verify.audit;
