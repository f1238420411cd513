/** Error codes of the server (GWY). */
package dev.writ.gateway.error;
