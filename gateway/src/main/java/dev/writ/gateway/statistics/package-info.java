/** What happened in the last day, kept in the server's memory, for people without Prometheus. */
package dev.writ.gateway.statistics;
