package dev.writ.sandbox.testing;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.OutputListener;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.engine.Engines;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/**
 * A program that runs one command of bubblewrap, which leaves the session, ignores TERM and never
 * ends, and whose first word is shown.
 */
public final class WaitingMain {
  private WaitingMain() {}

  /**
   * @param arguments state directory, and {@code network} for a command with a place to reach
   */
  public static void main(String[] arguments) {
    Engines engines = Engines.open(SandboxSettings.in(Path.of(arguments[0])));
    Command command =
        Command.of("/bin/sh", "-c", "trap '' TERM; (setsid sleep 600 &) ; echo begun; sleep 600");
    if (arguments[1].equals("network")) {
      command = command.withEgress(List.of(EgressRule.of("example.org", 443)));
    }
    Sandbox sandbox =
        engines.named("bubblewrap").create(SandboxSpec.of("waiting", Profile.named("default")));
    OutputListener shown =
        (stream, bytes) -> System.out.print(new String(bytes, StandardCharsets.US_ASCII));
    sandbox.start(command, shown).await();
  }
}
