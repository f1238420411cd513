/**
 * Error codes of data directories and their opening; their prefix is CLI for historical reasons.
 */
package dev.writ.embed.error;
