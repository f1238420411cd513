package dev.writ.surfaces.engine;

/** Seed 004's states of an invocation, by the seed's names. */
public enum ExecutionState {
  Queued,
  Running,
  Completed,
  Failed,
  TimedOut,
  Killed
}
