package dev.writ.sandbox.engine;

import dev.writ.sandbox.host.ShellScript;

/** What differs between engines: how a command is started. */
interface Launcher {

  /** The script that becomes the confined command; it says in the status file that it did. */
  ShellScript script(Confinement c);
}
