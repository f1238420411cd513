package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.sandbox.engine.Engines;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.Leftovers;
import dev.writ.sandbox.testing.OtherJvm;
import dev.writ.sandbox.testing.SoakMain;
import dev.writ.sandbox.testing.TestEngines;
import dev.writ.sandbox.testing.WaitingMain;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Sandboxes, eight at a time, in a JVM that is killed again and again: {@code -Dwrit.soak=1000}
 * runs a thousand; {@code -Dwrit.kills} says how often it is killed.
 */
class NothingIsLeftBehindTest {
  private static final int SANDBOXES = Integer.getInteger("writ.soak", 40);
  private static final int KILLS = Integer.getInteger("writ.kills", 3);

  @Test
  void alsoAfterTheJvmWasKilledAtAnyMoment() throws Exception {
    long seed = Long.getLong("writ.seed", System.nanoTime());
    System.out.println("NothingIsLeftBehindTest: -Dwrit.seed=" + seed);
    Random random = new Random(seed);
    Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbx");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    String state = directory.resolve("s").toString();
    List<Long> owners = new ArrayList<>();
    try {
      for (int i = 0; i < KILLS; i++) {
        try (OtherJvm jvm = new OtherJvm(List.of(), SoakMain.class, state, "100000", "8")) {
          owners.add(jvm.pid());
          // It is killed after a number of ends that nobody chose, in the middle of eight others.
          int ends = 1 + random.nextInt(12);
          for (String line = jvm.line(); ends > 0; line = jvm.line()) {
            assertThat(line).doesNotStartWith("failed");
            ends -= line.startsWith("ended") ? 1 : 0;
          }
          jvm.kill();
        }
      }
      List<String> lines;
      try (OtherJvm jvm =
          new OtherJvm(List.of(), SoakMain.class, state, Integer.toString(SANDBOXES), "8")) {
        owners.add(jvm.pid());
        lines = jvm.lines();
      }
      assertThat(lines).first().asString().startsWith("swept ").isNotEqualTo("swept 0");
      assertThat(lines).last().isEqualTo("closed");
      assertThat(lines.stream().filter(l -> l.matches("ended [0-9]+ exited")))
          .as(String.join("\n", lines))
          .hasSize(SANDBOXES);
      assertThat(Leftovers.await(Path.of(state), what -> false, owners))
          .filteredOn(w -> !w.contains("/workspaces/"))
          .isEmpty();
      wipeAll(state);
      assertThat(Leftovers.await(directory, what -> false, owners)).isEmpty();
    } finally {
      try (Engines engines = Engines.open(SandboxSettings.in(Path.of(state)))) {
        assertThat(engines.reports()).isNotEmpty(); // opened to sweep, also after a failure
      }
      Trees.remove(directory);
    }
  }

  /**
   * Of bubblewrap no process waits for a next start: also where a forwarder is between it and the
   * JVM, whose end must reach the command through processes of other users.
   */
  @ParameterizedTest
  @ValueSource(strings = {"alone", "network"})
  void theCommandEndsWithTheJvm(String how) throws Exception {
    Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbx");
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwx--x--x"));
    Path state = directory.resolve("s");
    try (OtherJvm jvm = new OtherJvm(List.of(), WaitingMain.class, state.toString(), how)) {
      assertThat(jvm.line()).isEqualTo("begun");
      List<Long> owners = List.of(jvm.pid());
      jvm.kill();
      assertThat(Leftovers.await(state, what -> !what.startsWith("process "), owners)).isEmpty();
    } finally {
      Engines.open(SandboxSettings.in(state)).close();
      Trees.remove(directory);
    }
  }

  /** Workspaces of runs outlive processes, on purpose, until they are wiped. */
  private static void wipeAll(String state) {
    try (Engines engines = Engines.open(SandboxSettings.in(Path.of(state)))) {
      List<?> wiped = engines.workspaces().wipeExpired(Instant.EPOCH.plusSeconds(1));
      assertThat(wiped).isNotEmpty();
      assertThat(engines.workspaces().list()).isEmpty();
    }
  }

  @Test
  void oneProcessAtATimeHasAStateDirectory() {
    try (TestEngines engines = TestEngines.open()) {
      assertThatThrownBy(() -> Engines.open(SandboxSettings.in(engines.directory().resolve("s"))))
          .hasMessageContaining("SBX-006");
    }
  }

  @Test
  void aStateDirectoryThatSandboxesCannotReachIsRefused() throws Exception {
    Path directory = Files.createTempDirectory(Path.of("/tmp"), "sbx"); // 0700
    try {
      assertThatThrownBy(() -> Engines.open(SandboxSettings.in(directory.resolve("s"))))
          .hasMessageContaining("SBX-005")
          .hasMessageContaining(directory.toString());
      assertThatThrownBy(() -> Engines.open(SandboxSettings.in(Path.of("/tmp/a b"))))
          .hasMessageContaining("SBX-005");
    } finally {
      Trees.remove(directory);
    }
  }

  @Test
  void closingTheEnginesEndsWhatRuns() {
    List<Execution> running = new ArrayList<>();
    Path state;
    try (TestEngines engines = TestEngines.open()) {
      state = engines.directory().resolve("s");
      for (String name : TestEngines.names()) {
        Sandbox sandbox =
            engines
                .named(name)
                .create(SandboxSpec.of(TestEngines.newId(), Profile.named("default")));
        running.add(sandbox.start(Command.of("sleep", "600"), OutputListener.NONE));
      }
    }
    for (Execution one : running) {
      assertThat(one.await().reason()).isEqualTo(EndReason.CANCELLED);
    }
    assertThat(Leftovers.await(state, what -> false)).isEmpty();
  }
}
