/** The events of runs, their names and their one form as text (spec/log.md). */
package dev.writ.ledger.event;
