package dev.writ.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.egress.Resolver;
import dev.writ.sandbox.testing.TestEngines;
import dev.writ.sandbox.workspace.WorkspaceSpec;
import dev.writ.sandbox.workspace.WorkspaceStorage;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A user of the host who is neither root nor a sandbox tries every file below the state directory,
 * whose names he is told, while a sandbox runs that opened to everybody what it could, and after.
 */
class OtherUsersOfTheHostGetNothingTest {
  private static final Instant NOW = Instant.parse("2026-01-02T03:04:05.000Z");

  /** Says of each path on stdin what this user may do with it. */
  private static final String OTHER_USER =
      """
      import os, sys
      for path in sys.stdin.buffer.read().split(b"\\0"):
          for mode, word in ((os.R_OK, "read"), (os.W_OK, "write")):
              if path and os.access(path, mode):
                  print(word, path.decode(errors="replace"))
      """;

  private static TestEngines engines;

  @BeforeAll
  static void open() {
    engines = TestEngines.withContainers(Resolver.HOST);
  }

  @AfterAll
  static void close() {
    engines.close();
  }

  private static Path state() {
    return engines.directory().resolve("s");
  }

  /** What is there, once nothing went away while it was looked at. */
  private static List<Path> everything() throws IOException {
    while (true) {
      try (var walk = Files.walk(state())) {
        return walk.toList();
      } catch (UncheckedIOException e) {
        if (!(e.getCause() instanceof NoSuchFileException)) {
          throw e;
        }
      }
    }
  }

  private static List<String> openToOthers() throws Exception {
    List<Path> all = everything();
    ProcessBuilder builder =
        new ProcessBuilder("setpriv", "--reuid", "1999999998", "--regid", "1999999998");
    builder.command().addAll(List.of("--clear-groups", "--no-new-privs"));
    builder.command().addAll(List.of("/usr/bin/python3", "-c", OTHER_USER));
    Process process = builder.redirectErrorStream(true).start();
    Thread.ofVirtual()
        .start(() -> {
          try (OutputStream out = process.getOutputStream()) {
            for (Path path : all) {
              out.write((path + "\0").getBytes(StandardCharsets.UTF_8));
            }
          } catch (IOException e) {
            throw new IllegalStateException(e);
          }
        });
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
    List<String> found = new ArrayList<>(said.lines().toList());
    // What has nothing of anybody: names of files for /etc, and empty places for roots.
    for (String place : List.of("etc/", "empty", "roots/")) {
      found.removeIf(line -> line.startsWith("read " + state().resolve(place)));
      found.removeIf(line -> line.equals("read " + state() + "/" + place));
    }
    return found;
  }

  @ParameterizedTest
  @CsvSource({
    "bubblewrap, DISK",
    "bubblewrap, MEMORY",
    "runc, DISK",
    "runc, MEMORY",
    "docker, MEMORY"
  })
  void neitherWhileACommandRunsNorAfter(String engine, WorkspaceStorage storage) throws Exception {
    var workspaces = engines.engines().workspaces();
    WorkspaceSpec kept =
        new WorkspaceSpec("t", engine + storage, storage, 16 << 20, NOW, NOW.plusSeconds(60));
    SandboxSpec spec =
        SandboxSpec.of(TestEngines.newId(), Profile.named("default")).in(workspaces.open(kept));
    String open = "mkdir /workspace/d; echo a >/workspace/d/f; echo a >/tmp/f; echo a >/dev/shm/f;";
    Command command =
        Command.of(
                "/bin/sh", "-c", open + "chmod -R 0777 /workspace /tmp /dev/shm; echo up; sleep 60")
            .withEnvironment("CANARY", "a-value-that-nobody-sees")
            .withEgress(List.of(EgressRule.of("example.com", 443)))
            .withSecrets(List.of(new SecretFile("token", "x".getBytes(StandardCharsets.UTF_8))));
    try (Sandbox sandbox = engines.named(engine).create(spec)) {
      CountDownLatch up = new CountDownLatch(1);
      Execution running = sandbox.start(command, (stream, bytes) -> up.countDown());
      up.await();
      assertThat(openToOthers()).isEmpty();
      assertThat(commandLines()).noneMatch(line -> line.contains("a-value-that-nobody-sees"));
      running.cancel();
      running.await();
      assertThat(openToOthers()).isEmpty();
    }
    assertThat(openToOthers()).isEmpty();
    workspaces.wipe("t", engine + storage, "test", NOW);
    assertThat(openToOthers()).isEmpty();
  }

  @Test
  void nobodyElseCanTakeOurLocks() throws IOException {
    for (Path file : List.of(state().resolve("lock"), Path.of("/run/writ-uids.lock"))) {
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
          .as("%s", file)
          .isEqualTo("rw-------");
    }
  }

  /** What every user of the host can read of every process. */
  private static List<String> commandLines() throws IOException {
    List<String> lines = new ArrayList<>();
    try (var all = Files.newDirectoryStream(Path.of("/proc"), "[0-9]*")) {
      for (Path process : all) {
        try {
          lines.add(Files.readString(process.resolve("cmdline"), StandardCharsets.ISO_8859_1));
        } catch (IOException e) {
          continue; // it has ended
        }
      }
    }
    return lines;
  }
}
