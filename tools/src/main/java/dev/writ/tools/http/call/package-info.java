/** The driver {@code http}: sends the requests of packages that describe an HTTP API. */
package dev.writ.tools.http.call;
