/** Incidents of executions, read from the journal. */
package dev.writ.sinks.incident;
