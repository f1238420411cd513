/**
 * Starts confined processes with bubblewrap, runc or a container engine, and proves that they are
 * confined.
 */
package dev.writ.sandbox.engine;
