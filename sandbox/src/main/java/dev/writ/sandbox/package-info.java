/**
 * The interface for confined processes: what to run, under which limits, and how it ended
 * (spec/sandbox.md).
 */
package dev.writ.sandbox;
