/**
 * Events of runs and the rows beside them: what is written, in which order, in which batch
 * (spec/journal.md).
 */
package dev.writ.executor.journal;
