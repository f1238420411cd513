/** Signed webhooks. */
package dev.writ.sinks.webhook;
