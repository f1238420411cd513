package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.sandbox.cgroup.CgroupLimits;
import dev.writ.sandbox.cgroup.Cgroups;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.sandbox.testing.TestEngines;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/**
 * Who waits for a command gets its end when its processes are gone. What remains to be removed is
 * removed behind it, and is never lost: the next command and the sandbox's end wait for it, and are
 * told where it fails.
 */
class TheEndIsToldBeforeTheRemovalTest {
  private static final Command WAITING =
      Command.of("/bin/sh", "-c", "echo there; read -r line; echo $line; exit 3")
          .withLimits(CgroupLimits.STANDARD);

  private static Held held(Sandbox sandbox) throws InterruptedException {
    CountDownLatch there = new CountDownLatch(1);
    Held held = sandbox.hold(WAITING, 60_000, (stream, bytes) -> there.countDown());
    there.await();
    return held;
  }

  /** The names of this JVM's cgroups. */
  private static TreeSet<String> ours() {
    TreeSet<String> names = new TreeSet<>(Cgroups.detect().names());
    names.removeIf(name -> !name.contains("-" + ProcessHandle.current().pid() + "-"));
    return names;
  }

  /** A directory in a cgroup, which the kernel does not remove while that is there. */
  private static Path occupy(String name) throws IOException {
    Path unified = Path.of("/sys/fs/cgroup", Cgroups.PARENT, name);
    Path memory = Path.of("/sys/fs/cgroup/memory", Cgroups.PARENT, name);
    return Files.createDirectory((Files.exists(memory) ? memory : unified).resolve("kept"));
  }

  @Test
  void aRemovalThatFailsTakesNoAnswerAwayAndIsToldToWhoComesNext() throws Exception {
    try (TestEngines engines = TestEngines.open()) {
      TreeSet<String> before = ours();
      Sandbox sandbox =
          engines
              .named("bubblewrap")
              .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")));
      Held held = held(sandbox);
      TreeSet<String> mine = ours();
      mine.removeAll(before);
      Path kept = occupy(mine.first());
      try {
        assertThat(held.handOver("go\n".getBytes(StandardCharsets.UTF_8), 60_000, 0)).isTrue();
        Ended ended = held.await();
        assertThat(ended.exitCode()).hasValue(3);
        assertThat(ended.stdout().bytes()).asString().isEqualTo("there\ngo\n");
        assertThat(Files.readString(kept.resolveSibling("cgroup.procs"))).isEmpty();
        assertThatThrownBy(() -> sandbox.exec(Command.of("/bin/true")))
            .hasMessageContaining("SBX-007");
        assertThatThrownBy(sandbox::destroy).hasMessageContaining("SBX-007");
      } finally {
        Files.delete(kept);
      }
      sandbox.destroy();
      assertThat(Leftovers.await(engines.directory().resolve("s"), left -> false)).isEmpty();
    }
  }

  @Test
  void theNextCommandWaitsForTheRemovalAndTheEndOfTheSandboxToo() {
    try (TestEngines engines = TestEngines.open()) {
      for (String name : TestEngines.names()) {
        try (Sandbox sandbox =
            engines
                .named(name)
                .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")))) {
          for (int i = 0; i < 5; i++) {
            Ended ended = sandbox.exec(Command.of("/bin/sh", "-c", "ls /tmp; >/tmp/mine"));
            assertThat(ended.exitCode()).hasValue(0);
            assertThat(ended.stdout().bytes()).as("another /tmp each time").isEmpty();
          }
        }
        assertThat(Leftovers.await(engines.directory().resolve("s"), left -> false)).isEmpty();
      }
    }
  }
}
