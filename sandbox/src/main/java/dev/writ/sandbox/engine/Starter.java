package dev.writ.sandbox.engine;

/** The part of an engine that differs: how a command is started. */
interface Starter {

  /**
   * Starts a command; if this fails, nothing of it is left.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-004} where the engine does not start it
   */
  RunningCommand start(Confinement c);

  /** Refuses what the engine cannot do, before anything is created. */
  void requireAble(Confinement.Wanted wanted);

  /** Whether we make the cgroup of a command; otherwise the engine makes one. */
  boolean ownCgroups();
}
