/** Rebuilds everything from raw entries and compares (spec/log.md). */
package dev.writ.ledger.fsck;
