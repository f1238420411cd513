/** Executes a recorded run again and compares every byte (spec/replay.md). */
package dev.writ.replay.engine;
