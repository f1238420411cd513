package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.TestEngines;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * What process 1 of a sandbox has open is no way out. bubblewrap's closes the host's {@code /proc}
 * only when the command may run already, so that a command which looks at once would find it; the
 * attack {@code first-process} tries to be so fast, this shows that it cannot matter.
 */
class TheFirstProcessShowsNothingTest {
  private static TestEngines engines;

  @BeforeAll
  static void open() {
    engines = TestEngines.withContainers(Resolver.HOST);
  }

  @AfterAll
  static void close() {
    engines.close();
  }

  @Test
  void its_descriptors_are_covered_from_before_it_is_process_1() throws Exception {
    try (Sandbox sandbox =
        engines
            .named("bubblewrap")
            .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")))) {
      Ended ended =
          sandbox.exec(
              Command.of(
                  "/usr/bin/sh",
                  "-c",
                  "ls -A /proc/1/fd /proc/1/task/*/fd && ls /proc/self/fd | head -1"));
      assertThat(new String(ended.stdout().bytes(), StandardCharsets.UTF_8))
          .isEqualTo("/proc/1/fd:\n\n/proc/1/task/1/fd:\n0\n");
    }
  }
}
