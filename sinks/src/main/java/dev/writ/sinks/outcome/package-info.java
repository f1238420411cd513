/**
 * What became of each request, in formats of others: the lines of {@code writ export --format}, as
 * they come.
 */
package dev.writ.sinks.outcome;
