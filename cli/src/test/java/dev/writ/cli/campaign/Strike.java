package dev.writ.cli.campaign;

/** How a server, or a command, is struck. */
enum Strike {
  /** {@code kill -9} of the server alone; its children have to go by themselves. */
  KILL,
  /** {@code kill -9} of the whole process group at once. */
  KILL_GROUP,
  /** Its children first, then the server. */
  KILL_CHILDREN_FIRST,
  /** Stopped in the middle, and killed without ever going on. */
  STOP_AND_KILL,
  /** Told to end, and killed while it drains. */
  KILL_WHILE_DRAINING,
  /** Killed before it listens. */
  KILL_WHILE_STARTING,
  /** Killed at the Nth call of a kind that concerns its files. */
  KILL_AT_A_CALL,
  /** The Nth call of a kind fails, once. */
  ONE_CALL_FAILS,
  /** The Nth call of a kind fails, and all after it. */
  ALL_CALLS_FAIL,
  /** The Nth write is done by half and fails. */
  HALF_A_WRITE,
  /** The disk loses what was not synced. */
  POWER_CUT,
  /** A sync fails once, later ones succeed, and then the power is cut. */
  FAILED_SYNC_AND_POWER_CUT,
  /** The disk is full. */
  DISK_FULL,
  /** Hardly any file may be opened any more. */
  FEW_DESCRIPTORS,
  /** Hardly any memory. */
  LITTLE_MEMORY,
  /** The host's clock is ahead for a while, and then right again. */
  CLOCK_AHEAD,
  /** The host's clock is back for a while, and then right again. */
  CLOCK_BACK,
  /** A command of the shell is killed at the Nth call, with no server. */
  COMMAND_KILLED;

  boolean needsDisk() {
    return this == POWER_CUT || this == FAILED_SYNC_AND_POWER_CUT || this == DISK_FULL;
  }
}
