package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkOrder.Action;
import dev.writ.sinks.testing.RedisServer;
import dev.writ.sinks.testing.Relay;
import dev.writ.sinks.testing.SinkScene;
import io.lettuce.core.Range;
import io.lettuce.core.StreamMessage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Seed 002's audit stream in a real Redis, which is filled, killed, emptied and cut off. */
class RedisHasTheSeedsStreamTest {
  private static final String STREAM = "swe:tools:exec:stream";

  @TempDir Path dir;
  @TempDir Path folder;
  @TempDir Path disk;
  private RedisServer redis;
  private Relay relay;
  private SinkScene scene;

  @BeforeEach
  void start() {
    redis = new RedisServer(disk, "--stream-node-max-entries", "10");
    redis.start();
    relay = new Relay(redis.port());
  }

  private void scene(String more) {
    scene =
        new SinkScene(
            dir,
            folder,
            "audit: { kind: redis, url: \"redis://127.0.0.1:"
                + relay.port()
                + "\""
                + more
                + " }\n");
  }

  @AfterEach
  void stop() {
    scene.close();
    relay.close();
    redis.close();
  }

  private List<StreamMessage<String, String>> entries() {
    return redis.ask(commands -> commands.xrange(STREAM, Range.unbounded()));
  }

  private List<String> execIds() {
    return entries().stream().map(entry -> entry.getBody().get("exec_id")).toList();
  }

  @Test
  void theSeedsExampleIsAnEntryWithTheSeedsFieldsAsTexts() {
    scene("");
    String id = scene.exec("pytest -q");
    assertThat(scene.denied("kubectl get pods")).isEqualTo(403);
    scene.awaitAll();
    StreamMessage<String, String> entry = entries().getFirst();
    assertThat(entry.getId()).matches("1-[0-9]+");
    Map<String, String> fields = entry.getBody();
    assertThat(fields.keySet())
        .containsExactlyInAnyOrder(
            "event",
            "exec_id",
            "role",
            "case_id",
            "subtask_id",
            "cmd",
            "image",
            "rc",
            "stdout_tail",
            "stderr_tail",
            "ts",
            "duration_ms",
            "artifacts_count");
    assertThat(fields)
        .containsEntry("event", "tool_exec")
        .containsEntry("exec_id", id)
        .containsEntry("role", "developer")
        .containsEntry("case_id", "case-123")
        .containsEntry("subtask_id", "DEV-123")
        .containsEntry("cmd", "pytest -q")
        .containsEntry("image", "python:3.11-bookworm")
        .containsEntry("rc", "0")
        .containsEntry("stdout_tail", "1 passed\n")
        .containsEntry("stderr_tail", "")
        .containsEntry("artifacts_count", "1");
    assertThat(fields.get("ts")).matches("[0-9]+\\.[0-9]{3}");
    assertThat(entries().getLast().getBody()).containsEntry("event", "tool_denied");
  }

  @Test
  void aReplayIsRefusedByRedisItselfAndCountsAsDelivered() {
    scene("");
    scene.exec("pytest -q");
    scene.exec("python -V");
    scene.awaitAll();
    scene.orders.leave("audit", new SinkOrder(Action.REPLAY, 0));
    scene.awaitLine("ordered REPLAY");
    scene.awaitAll();
    assertThat(scene.sink().state().delivered()).isEqualTo(4);
    assertThat(execIds()).hasSize(2);
  }

  @Test
  void afterAnOutageTheStreamIsWhole() {
    scene("");
    scene.exec("pytest -q");
    scene.awaitAll();
    redis.kill();
    for (int i = 0; i < 20; i++) {
      scene.exec("python " + i);
    }
    scene.awaitLine("SNK-001");
    assertThat(scene.sink().eventsBehind()).isPositive();
    scene.server.home.clock.forward(Duration.ofHours(3));
    assertThat(scene.sink().secondsBehind()).isGreaterThan(3 * 3600 - 1);
    redis.start();
    scene.awaitAll();
    scene.awaitLine("recovered");
    assertThat(execIds()).hasSize(21).doesNotHaveDuplicates();
    assertThat(scene.sink().failures()).isPositive();
  }

  @Test
  void aRedisThatLostItsDiskGetsAllOfItAgain() {
    scene("");
    List<String> ids = List.of(scene.exec("pytest -q"), scene.exec("python -V"));
    scene.awaitAll();
    redis.kill();
    redis.loseDisk();
    redis.start();
    scene.exec("node -v");
    scene.awaitLine("rewound 0");
    scene.awaitAll();
    assertThat(execIds()).hasSize(3).startsWith(ids.toArray(String[]::new));
  }

  @Test
  void aRedisWithoutRoomTakesNothingUntilItHasSome() {
    scene("");
    scene.exec("pytest -q");
    scene.awaitAll();
    redis.ask(commands -> commands.configSet("maxmemory-policy", "noeviction"));
    redis.ask(commands -> commands.configSet("maxmemory", "1mb"));
    for (int i = 0; i < 5; i++) {
      scene.exec("python " + i);
    }
    assertThat(scene.awaitLine("SNK-002")).endsWith(": OOM");
    assertThat(entries()).hasSize(1);
    redis.ask(commands -> commands.configSet("maxmemory", "0"));
    scene.awaitAll();
    assertThat(execIds()).hasSize(6).doesNotHaveDuplicates();
  }

  /** Wherever the line is cut, a delivery is in Redis whole or not at all. */
  @Test
  void aLineThatIsCutInTheMiddleLosesAndDoublesNothing() {
    scene("");
    scene.exec("pytest -q");
    scene.awaitAll();
    int executed = 1;
    for (long bytes : List.of(0L, 40L, 700L, 1900L)) {
      redis.kill(); // so that several wait
      for (int i = 0; i < 4; i++) {
        scene.exec("python " + i);
        executed++;
      }
      relay.cut();
      relay.mend();
      relay.cutAfter(bytes);
      redis.start();
      scene.forget();
      scene.awaitLine("SNK-001");
      relay.mend();
      scene.awaitAll();
      assertThat(execIds()).as("cut after " + bytes).hasSize(executed).doesNotHaveDuplicates();
    }
  }

  @Test
  void theStreamOfAnotherLogIsLeftAlone() {
    redis.ask(commands -> commands.set(STREAM + ":log", "other.example/log"));
    scene("");
    scene.exec("pytest -q");
    scene.awaitLine("SNK-003");
    assertThat(entries()).isEmpty();
  }

  @Test
  void aKeyThatIsNoStreamIsRefused() {
    redis.ask(commands -> commands.set(STREAM, "text"));
    scene("");
    assertThat(scene.awaitLine("SNK-002")).endsWith(": WRONGTYPE");
  }

  @Test
  void aPasswordComesFromAFile() throws IOException {
    redis.ask(commands -> commands.configSet("requirepass", "open sesame"));
    Path secret = folder.resolve("redis.txt");
    Files.writeString(secret, "open sesame\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    scene(", secret: redis.txt");
    scene.exec("pytest -q");
    scene.awaitLine("delivered");
    scene.awaitAll();
    assertThat(String.join("\n", scene.lines())).doesNotContain("sesame");
  }

  /** A server that answers, and does not take the password, is no server that does not answer. */
  @Test
  void aWrongPasswordIsToldAsOne() throws IOException {
    redis.ask(commands -> commands.configSet("requirepass", "open sesame"));
    Path secret = folder.resolve("redis.txt");
    Files.writeString(secret, "open barley\n");
    Files.setPosixFilePermissions(secret, PosixFilePermissions.fromString("rw-------"));
    scene(", secret: redis.txt");
    assertThat(scene.awaitLine("SNK-002")).endsWith(": WRONGPASS");
  }

  @Test
  void theConfigurationSaysHowMuchStays() {
    scene(", maxlen: 10");
    for (int i = 0; i < 3; i++) { // Redis trims whole nodes, here of 10 entries each
      scene.stop();
      for (int j = 0; j < 8; j++) {
        scene.exec("python " + j);
      }
      scene.start();
      scene.awaitAll();
    }
    assertThat(entries()).hasSizeBetween(10, 19);
    assertThat(scene.sink().state().delivered()).isEqualTo(24);
  }

  @Test
  void aClockThatLeapsRemovesNothing() {
    scene(", keep_s: 3600");
    String before = scene.exec("pytest -q");
    scene.awaitAll();
    scene.stop();
    String late = scene.exec("python -V");
    scene.server.home.clock.leap(Duration.ofDays(400));
    scene.start();
    scene.awaitAll();
    assertThat(execIds()).containsExactly(before, late);
  }

  @Test
  void theConfigurationSaysHowLongItStays() {
    scene(", keep_s: 3600");
    scene.exec("pytest -q");
    scene.awaitAll();
    scene.server.home.clock.forward(Duration.ofHours(2));
    String young = scene.exec("python -V");
    scene.awaitAll();
    assertThat(execIds()).containsExactly(young);
  }
}
