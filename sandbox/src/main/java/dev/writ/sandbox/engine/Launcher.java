package dev.writ.sandbox.engine;

import dev.writ.sandbox.host.ShellScript;

/** What differs between engines: how a command is started. */
interface Launcher {

  /** The script that becomes the confined command; it says in the status file that it did. */
  ShellScript script(Confinement c);

  /**
   * Whether the command ran to an end, or the engine itself failed before it.
   *
   * @param status what the status file holds at the end; empty where there is none
   */
  boolean ran(String status);
}
