package dev.writ.sandbox.engine;

import dev.writ.sandbox.host.ShellScript;

/** The part of an engine that differs: how a command is started. */
interface Launcher {

  /** The script that execs the confined command, and records in the status file that it ran. */
  ShellScript script(Confinement c);

  /**
   * Whether the command ran; otherwise the engine itself failed.
   *
   * @param status the content of the status file at the end; empty if there is none
   */
  boolean ran(String status);
}
