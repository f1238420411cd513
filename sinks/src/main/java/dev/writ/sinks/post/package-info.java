/** Sends messages over HTTP. */
package dev.writ.sinks.post;
