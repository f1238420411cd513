/** The HTTP transport: connections, limits, authentication, routing, answers. Knows no kernel. */
package dev.writ.gateway.http;
