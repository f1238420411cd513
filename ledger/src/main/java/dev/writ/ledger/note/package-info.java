/** Signed notes: checkpoints, roots and cosignatures (spec/log.md). */
package dev.writ.ledger.note;
