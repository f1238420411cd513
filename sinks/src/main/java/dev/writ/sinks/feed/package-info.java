/** Follows the journal and delivers its records to a sink, in order and at least once. */
package dev.writ.sinks.feed;
