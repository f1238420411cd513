/**
 * Journal events of runs and their rows: what is written, in which order and batch
 * (spec/journal.md).
 */
package dev.writ.executor.journal;
