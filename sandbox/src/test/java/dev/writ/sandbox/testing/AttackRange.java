package dev.writ.sandbox.testing;

import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Command;
import dev.writ.sandbox.Ended;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.Sandbox;
import dev.writ.sandbox.SandboxSpec;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.workspace.TreeLimits;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.TreeMap;

/** Engines, canaries and the compiled programs, for all attacks. */
public final class AttackRange implements AutoCloseable {
  private final TestEngines engines = TestEngines.withContainers(Resolver.HOST);
  private final Path programs = engines.directory().resolve("attack");
  private final TreeMap<String, HostCanaries> canaries = new TreeMap<>();

  public AttackRange() throws Exception {
    Files.createDirectory(programs);
    Files.setPosixFilePermissions(programs, PosixFilePermissions.fromString("rwxr-xr-x"));
    Arsenal.write(programs, Attack.all());
    for (String engine : TestEngines.allNames()) {
      canaries.put(engine, new HostCanaries(engines, engine));
    }
  }

  /** Runs one, and looks at what it left as a tool would. */
  public Ended run(String engine, Attack attack) {
    SandboxSpec spec =
        SandboxSpec.of(TestEngines.newId(), Profile.named("default"))
            .withFreshBytes(attack.freshBytes());
    try (Sandbox sandbox = engines.named(engine).create(spec)) {
      Command command =
          Command.of(attack.argv())
              .withLimits(attack.limits())
              .withBinds(List.of(new Bind(programs, "/attack")));
      for (var variable : canaries.get(engine).environment().entrySet()) {
        command = command.withEnvironment(variable.getKey(), variable.getValue());
      }
      Ended ended = sandbox.exec(command);
      sandbox.workspace().treeDigest();
      sandbox.workspace().exportTar(OutputStream.nullOutputStream(), TreeLimits.STANDARD);
      return ended;
    }
  }

  /** The host is as it was, and only the canaries' sandboxes are there. */
  public void requireUntouched(String engine) throws Exception {
    for (HostCanaries one : canaries.values()) {
      one.requireUntouched();
    }
    List<String> left =
        Leftovers.await(
            engines.directory().resolve("s"),
            what -> canaries.values().stream().anyMatch(c -> c.owns(what)));
    if (!left.isEmpty()) {
      throw new AssertionError("left behind: " + left);
    }
  }

  @Override
  public void close() throws IOException {
    for (HostCanaries one : canaries.values()) {
      one.close();
    }
    engines.close();
  }
}
