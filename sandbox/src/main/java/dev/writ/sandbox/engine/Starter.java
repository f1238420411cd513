package dev.writ.sandbox.engine;

/** What differs between engines: how a command comes to run. */
interface Starter {

  /**
   * Starts a command; what it made is gone when this fails.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-004} where the engine does not start it
   */
  RunningCommand start(Confinement c);

  /** Refuses what the engine cannot do, before anything is made. */
  void requireAble(Confinement.Wanted wanted);

  /** Whether commands get a cgroup of ours; else the engine makes one. */
  boolean ownCgroups();
}
