/**
 * The servers: one over one log, and the front of several that forwards to a log's owner
 * (spec/cells.md).
 */
package dev.writ.gateway.http.server;
