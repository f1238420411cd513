/** Health, readiness, metrics, traces and the log of a server. */
package dev.writ.gateway.ops;
