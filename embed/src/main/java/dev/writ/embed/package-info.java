/**
 * Writ as a library: {@link dev.writ.embed.Writ} opens an installation in this process, without a
 * server. Part of the public API.
 */
package dev.writ.embed;
