/** How many calls, connections and bytes are admitted at a time (spec/gateway.md). */
package dev.writ.gateway.http.limit;
