package dev.writ.sandbox.testing;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.engine.Engines;
import java.nio.file.Path;

/** Starts a command in a container, says so, and waits to be killed. */
public final class ContainerMain {
  private ContainerMain() {}

  /**
   * @param arguments state directory, socket of the service
   */
  public static void main(String[] arguments) throws Exception {
    SandboxSettings settings =
        SandboxSettings.in(Path.of(arguments[0])).withContainers(Path.of(arguments[1]));
    Engines engines = Engines.open(settings);
    Sandbox sandbox =
        engines.named("docker").create(SandboxSpec.of("left", Profile.named("default")));
    sandbox.start(
        Command.of("/bin/sh", "-c", "echo up; exec sleep 600"),
        (OutputListener.Stream s, byte[] b) -> System.out.println("up"));
    Thread.sleep(600_000);
  }
}
