/**
 * Starts a server over one kernel: wires transport, pipeline, native API, scheduling and
 * operations.
 */
package dev.writ.gateway;
