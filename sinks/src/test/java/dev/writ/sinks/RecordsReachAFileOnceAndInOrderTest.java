package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkOrder.Action;
import dev.writ.sinks.feed.SinkState;
import dev.writ.sinks.testing.SinkScene;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What every sink promises, shown by the simplest one. */
class RecordsReachAFileOnceAndInOrderTest {
  @TempDir Path dir;
  @TempDir Path folder;
  private SinkScene scene;

  @BeforeEach
  void start() {
    scene = new SinkScene(dir, folder, "audit: { kind: file, path: exec.jsonl }\n");
  }

  @AfterEach
  void stop() {
    scene.close();
  }

  private List<JsonValue.Obj> lines() throws IOException {
    return Files.readAllLines(folder.resolve("exec.jsonl")).stream()
        .map(line -> (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8)))
        .toList();
  }

  private List<String> ids() throws IOException {
    return lines().stream()
        .map(line -> ((JsonValue.Obj) line.get("fields")).get("exec_id"))
        .map(id -> ((JsonValue.Str) id).value())
        .toList();
  }

  @Test
  void executionsAndDenialsAreLinesInTheOrderOfTheLog() throws IOException {
    String first = scene.exec("pytest -q");
    assertThat(scene.denied("kubectl get pods")).isEqualTo(403);
    String third = scene.exec("python -V");
    scene.awaitAll();
    List<JsonValue.Obj> lines = lines();
    assertThat(ids()).hasSize(3).startsWith(first).endsWith(third);
    JsonValue.Obj fields = (JsonValue.Obj) lines.get(1).get("fields");
    assertThat(fields.get("event")).isEqualTo(JsonValue.of("tool_denied"));
    assertThat(fields.get("stderr_tail")).isEqualTo(JsonValue.of("GRD-714"));
    assertThat(lines.getFirst().get("log")).isEqualTo(JsonValue.of("writ.example/log"));
    assertThat(lines.getFirst().get("subject")).isEqualTo(JsonValue.of("alice"));
    assertThat(scene.sink().state().delivered()).isEqualTo(3);
    assertThat(scene.sink().secondsBehind()).isZero();
  }

  @Test
  void aNewServerGoesOnWhereTheLastOneStopped() throws IOException {
    scene.exec("pytest -q");
    scene.awaitAll();
    scene.stop();
    SinkState saved = SinkState.of(scene.server.home.ledger(), "audit");
    assertThat(saved.delivered()).isEqualTo(1);
    assertThat(saved.position()).isEqualTo(scene.server.home.ledger().treeSize());
    scene.exec("python -V");
    scene.start();
    scene.awaitAll();
    assertThat(ids()).hasSize(2).doesNotHaveDuplicates();
    assertThat(scene.sink().state().delivered()).isEqualTo(2);
  }

  @Test
  void whatARuleDeletedBeforeItWasReadIsToldWithoutItsTailsAndItsExit() throws IOException {
    scene.stop();
    scene.ends(2, "2 failed\n");
    String id = scene.exec("pytest -q");
    scene.deleteOutputs();
    scene.start();
    scene.awaitAll();
    assertThat(ids()).containsExactly(id);
    JsonValue.Obj fields = (JsonValue.Obj) lines().getFirst().get("fields");
    for (String gone : List.of("rc", "stdout_tail", "stderr_tail")) {
      assertThat(fields.get(gone)).as(gone).isEqualTo(JsonValue.of(""));
    }
    assertThat(fields.get("cmd")).isEqualTo(JsonValue.of("pytest -q"));
  }

  /** A sink that waited for it would tell nothing any more. */
  @Test
  void whatWasLostIsToldWithoutItsTailsAndWhatCameLaterFollows() throws IOException {
    scene.stop();
    scene.ends(2, "2 failed\n".repeat(10_000));
    String lost = scene.exec("pytest -q");
    scene.loseLargeContents();
    scene.ends(0, "1 passed\n");
    String next = scene.exec("pytest -q");
    scene.start();
    scene.awaitAll();
    assertThat(ids()).containsExactly(lost, next);
    JsonValue.Obj fields = (JsonValue.Obj) lines().getFirst().get("fields");
    for (String gone : List.of("rc", "stdout_tail", "stderr_tail")) {
      assertThat(fields.get(gone)).as(gone).isEqualTo(JsonValue.of(""));
    }
    assertThat(((JsonValue.Obj) lines().getLast().get("fields")).get("stdout_tail"))
        .isEqualTo(JsonValue.of("1 passed\n"));
  }

  @Test
  void aReplayAddsNothingAndALineThatACrashCutOffIsWrittenAgain() throws IOException {
    scene.exec("pytest -q");
    scene.exec("python -V");
    scene.awaitAll();
    byte[] whole = Files.readAllBytes(folder.resolve("exec.jsonl"));
    scene.orders.leave("audit", new SinkOrder(Action.REPLAY, 0));
    scene.awaitLine("ordered REPLAY");
    scene.awaitAll();
    assertThat(scene.sink().state().delivered()).isEqualTo(4);
    assertThat(folder.resolve("exec.jsonl")).hasBinaryContent(whole);
    scene.stop();
    try (var file = Files.newByteChannel(folder.resolve("exec.jsonl"), StandardOpenOption.WRITE)) {
      file.truncate(whole.length - 40);
    }
    scene.start();
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(folder.resolve("exec.jsonl")).hasBinaryContent(whole);
  }

  /** As logrotate does it, with and without copytruncate. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aFileThatIsTakenAwayWhileTheServerRunsBeginsAgain(boolean isMoved) throws IOException {
    Path file = folder.resolve("exec.jsonl");
    String first = scene.exec("pytest -q");
    scene.awaitAll();
    if (isMoved) {
      Files.move(file, folder.resolve("exec.jsonl.1"));
    } else {
      Files.writeString(file, "");
    }
    String second = scene.exec("python -V");
    scene.awaitLine("rewound");
    scene.awaitAll();
    assertThat(ids()).containsExactly(first, second);
  }

  @Test
  void aPausedSinkReadsNothingUntilItIsResumed() throws IOException {
    scene.orders.leave("audit", new SinkOrder(Action.PAUSE, 0));
    scene.awaitLine("ordered PAUSE");
    scene.exec("pytest -q");
    scene.stop();
    scene.start();
    assertThat(scene.sink().state().paused()).as("also of the next server").isTrue();
    assertThat(scene.sink().eventsBehind()).isPositive();
    scene.orders.leave("audit", new SinkOrder(Action.RESUME, 0));
    scene.awaitLine("delivered");
    assertThat(ids()).hasSize(1);
  }

  @Test
  void anOrderThatCannotBeFollowedIsRefusedAndRemoved() throws IOException {
    scene.orders.leave("audit", new SinkOrder(Action.REPLAY, 1_000_000));
    scene.awaitLine("SNK-006 from 1000000");
    Files.writeString(dir.resolve("sinks/audit.order"), "{\"action\":\"dance\"}");
    scene.awaitLine("SNK-006 its file");
    scene.exec("pytest -q");
    scene.awaitAll();
    assertThat(scene.orders.waits("audit")).isFalse();
    assertThat(ids()).hasSize(1);
  }

  @Test
  void theFileOfAnotherLogIsLeftAlone() throws IOException {
    String other = "{\"id\":\"1-7\",\"log\":\"other.example/log\"}\n";
    scene.stop();
    Files.writeString(folder.resolve("exec.jsonl"), other);
    scene.start();
    scene.awaitLine("SNK-003");
    assertThat(folder.resolve("exec.jsonl")).hasContent(other.strip());
    assertThat(scene.sink().state().trouble()).isPresent();
  }

  /** A path with a slip in it may name somebody's only copy of something. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"keys\":[]}",
        "a note without an end of its line",
        "{\"id\":\"1-7\",\"log\":\"other.example/log\"}\nand more",
        "a line\nand another"
      })
  void aFileThatIsNoneOfOursKeepsEveryByte(String others) throws IOException {
    scene.stop();
    Files.writeString(folder.resolve("exec.jsonl"), others);
    scene.start();
    scene.awaitLine("SNK-003");
    scene.exec("pytest -q");
    assertThat(Files.readString(folder.resolve("exec.jsonl"))).isEqualTo(others);
  }

  @Test
  void aFirstLineThatACrashCutOffIsWrittenAgain() throws IOException {
    String id = scene.exec("pytest -q");
    scene.awaitAll();
    byte[] whole = Files.readAllBytes(folder.resolve("exec.jsonl"));
    for (int cut : List.of(5, 100, whole.length - 1)) {
      scene.stop();
      Files.write(folder.resolve("exec.jsonl"), Arrays.copyOf(whole, cut));
      scene.forget();
      scene.start();
      scene.awaitLine("rewound");
      scene.awaitAll();
      assertThat(folder.resolve("exec.jsonl")).as("cut at %s", cut).hasBinaryContent(whole);
    }
    assertThat(ids()).containsExactly(id);
  }

  /** With ids that the log gives a second time, later records would be discarded unseen. */
  @Test
  void aTargetThatIsAheadOfTheLogGetsNothing() throws IOException {
    scene.exec("pytest -q");
    scene.awaitAll();
    scene.stop();
    String ahead = "{\"id\":\"1-5000\",\"log\":\"writ.example/log\"}\n";
    Files.writeString(folder.resolve("exec.jsonl"), ahead);
    scene.start();
    scene.awaitLine("SNK-008 it has 1-5000");
    assertThat(folder.resolve("exec.jsonl")).hasContent(ahead.strip());
  }

  /** The events behind the backup are lost to the ledger; what comes later has greater ids. */
  @Test
  void aLedgerThatWasPutBackFromABackupIsFollowedOn() throws IOException {
    String kept = scene.exec("pytest -q");
    scene.awaitAll();
    scene.stop();
    TestHome home = scene.server.home;
    home.backup();
    scene.server.restart();
    scene.start();
    String lost = scene.exec("python -V");
    scene.awaitAll();
    scene.stop();
    assertThat(Refused.code(home::restore)).isEqualTo("LED-011");
    Kernel.incarnate(
        home.ledgerConfig(),
        (number, _) ->
            home.change(
                EventKind.LEDGER_INCARNATED,
                JsonValue.object().put("incarnation", number).build()));
    scene.server.restart();
    scene.start();
    String next = scene.exec("node -v");
    scene.awaitAll();
    assertThat(ids()).containsExactly(kept, lost, next);
    assertThat(lines().getLast().get("id").toString()).contains("2-");
  }
}
