package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Content;
import dev.writ.verify.bundle.GoneContents;
import dev.writ.verify.bundle.Sample;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run of which contents were deleted replays: what is there again, and the rest is named. */
class AReplayTellsWhatRulesDeletedTest {
  private static final String RULES =
      TestPolicy.YAML
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention:
            rules:
              - { name: logs, contents: [outputs], match: { tool: mail }, keep_s: 60 }
              - { name: files, contents: [inputs], match: { tool: sim }, keep_s: 60 }
          """;

  @TempDir Path dir;

  @Test
  void the_rest_is_executed_again_and_what_is_missing_is_named_with_its_rule() {
    try (TestHome home = TestHome.create(dir, RULES)) {
      home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      byte[] file = "a file".getBytes(StandardCharsets.UTF_8);
      Content input =
          home.kernel()
              .contents()
              .put(TestKeys.TENANT, new ByteArrayInputStream(file), "text/plain");
      home.submit(home.ask("alice").tool("calc").params("{\"n\":1}"));
      Content output =
          home.submit(home.ask("alice").tool("mail").params("{\"n\":2}"))
              .served()
              .orElseThrow()
              .receipt()
              .output()
              .orElseThrow();
      home.submit(
          home.ask("alice")
              .tool("sim")
              .params("{\"n\":3}")
              .input("f", input.digest(), input.size()));
      assertThat(Replayed.completely(home, Sample.RUN).reexecuted())
          .contains("3 effects: through all eight stages, on the recorded outcome of the tool");
      home.clock.forward(Duration.ofSeconds(61));
      home.kernel().contents().retain(home.kernel().now());
      ReplayResult after = Replayed.completely(home, Sample.RUN);
      assertThat(after.reexecuted())
          .contains("2 effects: through all eight stages, on the recorded outcome of the tool");
      assertThat(after.neither())
          .contains(
              "1 effects: only the receipt was made again, their contents were deleted by rule"
                  + " logs")
          .anyMatch(line -> line.matches(line(output, "outputs", "logs", home)))
          .anyMatch(line -> line.matches(line(input, "inputs", "files", home)));
    }
  }

  @Test
  void what_was_moved_to_the_archive_is_told_as_that() {
    try (TestHome home = GoneContents.archivable(dir.resolve("home"))) {
      GoneContents.archive(home, dir.resolve("archive"));
      String bundle = ArchivedRuns.bundle(home.ledger(), Sample.RUN).orElseThrow().toString();
      assertThat(Replayed.completely(home, Sample.RUN).neither())
          .anyMatch(line ->
              line.matches(
                  "1 outputs sha256:\\w{64} of event \\d+: moved to the archive at"
                      + " [-:.0-9TZ]+, into the bundle "
                      + bundle))
          .anyMatch(line ->
              line.endsWith(
                  ", their contents were moved to the archive, into the bundle " + bundle))
          .noneMatch(line -> line.contains("deleted"));
    }
  }

  private static String line(Content content, String kind, String rule, TestHome home) {
    return "1 "
        + kind
        + " "
        + content.digest()
        + " of event \\d+: deleted at [-:.0-9TZ]+ by rule "
        + rule
        + " of policy "
        + home.policy().digest();
  }
}
