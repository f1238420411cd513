/** Parts of a message: header fields, trace context, an answer and what became of a call. */
package dev.writ.gateway.http.message;
