package dev.writ.gateway.ops;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.logging.Handler;
import java.util.logging.Level;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Nothing but lines of JSON gets into the log, and none of it has a library's words. */
class LibrariesLogAsTheServerDoesTest {
  private static final Logger ROOT = Logger.getLogger("");

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private Handler[] before;
  private Instant now = Instant.EPOCH;

  @BeforeEach
  void install() {
    before = ROOT.getHandlers();
    LibraryLog.into(
        new JsonLog(new PrintStream(out, true, StandardCharsets.UTF_8), () -> now), () -> now);
  }

  @AfterEach
  void putBack() {
    for (Handler ours : ROOT.getHandlers()) {
      ROOT.removeHandler(ours);
    }
    for (Handler each : before) {
      ROOT.addHandler(each);
    }
  }

  private List<JsonValue.Obj> lines() {
    return out.toString(StandardCharsets.UTF_8)
        .lines()
        .map(line -> (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8)))
        .toList();
  }

  @Test
  void whoAndWhereIsALineAndTheWordsAreNot() {
    Logger library = Logger.getLogger("io.example.Channel");
    library.log(Level.WARNING, "a payload: secret", new IOException("another secret"));
    library.severe("secret");
    library.info("secret");
    assertThat(out.toString(StandardCharsets.UTF_8)).doesNotContain("secret");
    assertThat(lines())
        .extracting(
            line -> line.get("event"), line -> line.get("level"), line -> line.get("logger"))
        .containsExactly(
            tuple(
                JsonValue.of("library"), JsonValue.of("info"), JsonValue.of("io.example.Channel")),
            tuple(
                JsonValue.of("library"),
                JsonValue.of("error"),
                JsonValue.of("io.example.Channel")));
    assertThat(lines().getFirst().get("type")).isEqualTo(JsonValue.of("java.io.IOException"));
    assertThat(lines().getFirst().get("at_code").toString())
        .contains("LibrariesLogAsTheServerDoes");
  }

  @Test
  void aNameThatIsNoneIsOther() {
    LogRecord record = new LogRecord(Level.WARNING, "x");
    record.setLoggerName("a name with \n words");
    ROOT.getHandlers()[0].publish(record);
    ROOT.getHandlers()[0].publish(new LogRecord(Level.WARNING, "x"));
    assertThat(lines())
        .hasSize(2)
        .allSatisfy(line -> assertThat(line.get("logger")).isEqualTo(JsonValue.of("other")));
  }

  @Test
  void aLibraryThatRepeatsItselfIsCounted() {
    Logger library = Logger.getLogger("io.example.Loop");
    for (int i = 0; i < LibraryLog.PER_SECOND_MAX + 5; i++) {
      library.warning("again");
    }
    assertThat(lines()).hasSize(LibraryLog.PER_SECOND_MAX);
    now = now.plusSeconds(1);
    library.warning("again");
    assertThat(lines().getLast().get("count")).isEqualTo(JsonValue.of(5));
  }

  @Test
  void whoeverHasConfiguredItKeepsThat() {
    Handler ours = ROOT.getHandlers()[0];
    System.setProperty("java.util.logging.config.file", "somewhere");
    try {
      LibraryLog.into(new JsonLog(System.err, () -> now), () -> now);
    } finally {
      System.clearProperty("java.util.logging.config.file");
    }
    assertThat(ROOT.getHandlers()).containsExactly(ours);
  }
}
