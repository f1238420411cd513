package dev.writ.sandbox.engine;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.Spawner;
import java.io.IOException;
import java.nio.file.Path;

/** Starts commands as processes of the host, which the engine's script confines. */
final class ProcessStarter implements Starter {
  private final Launcher launcher;

  ProcessStarter(Launcher launcher) {
    this.launcher = launcher;
  }

  @Override
  public RunningCommand start(Confinement c) {
    try {
      Path script = c.directory().resolve("start");
      Modes.writePrivate(script, launcher.script(c).bytes());
      ProcessBuilder builder = new ProcessBuilder("/bin/sh", script.toString());
      builder.directory(c.directory().toFile()).environment().clear();
      return new RunningProcess(Spawner.start(builder), c, launcher);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "a command cannot be prepared", e);
    }
  }

  @Override
  public void requireAble(Confinement.Wanted wanted) {
    if (wanted.image()) {
      throw new WritException(
          SandboxError.UNSUPPORTED, "images are for the engine " + Detection.DOCKER + " only");
    }
  }

  @Override
  public boolean ownCgroups() {
    return true;
  }
}
