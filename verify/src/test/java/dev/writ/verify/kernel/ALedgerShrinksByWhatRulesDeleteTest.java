package dev.writ.verify.kernel;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.retention.RetentionPlan;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.verify.bundle.Sample;
import dev.writ.verify.testing.Sound;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Many effects, whose outputs rules of policy have deleted by age and by size. */
class ALedgerShrinksByWhatRulesDeleteTest {
  private static final int EFFECTS = "long".equals(System.getProperty("writ.campaign")) ? 3000 : 60;
  private static final int OUTPUT = 20_000;

  @TempDir Path dir;

  private static String rule(long bytesMax) {
    return TestPolicy.YAML
        + "retention: { rules: [ { name: all, contents: [outputs, observations], keep_s: 60,"
        + " bytes_max: "
        + bytesMax
        + " } ] }\n";
  }

  private static long bytes(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      return files.filter(Files::isRegularFile).mapToLong(file -> file.toFile().length()).sum();
    }
  }

  /** The files in which that text is. */
  private static List<String> filesWith(Path directory, String text) throws IOException {
    List<String> found = new ArrayList<>();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        if (new String(Files.readAllBytes(file), US_ASCII).contains(text)) {
          found.add(file.getFileName().toString());
        }
      }
    }
    return found;
  }

  @Test
  void by_size_the_oldest_go_and_by_age_all() throws IOException {
    long half = (long) EFFECTS * OUTPUT / 2;
    try (TestHome home = TestHome.create(dir, rule(half))) {
      home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
      home.clock.stepping(Duration.ofMillis(1)); // so that there is an oldest one
      Random random = new Random(7);
      byte[] content = new byte[OUTPUT / 4 * 3];
      String first = "";
      for (int n = 0; n < EFFECTS; n++) {
        random.nextBytes(content);
        String text = Base64.getEncoder().encodeToString(content);
        first = n == 0 ? text.substring(0, 40) : first;
        home.driver.does("mail", Behaviours.gives(text, "text/plain"));
        home.submit(home.ask("alice").tool("mail").operation("text").run("run-1"));
      }
      home.clock.forward(Duration.ofSeconds(60));
      Path data = home.ledgerConfig().dir();
      long before = bytes(data);
      assertThat(filesWith(data, first)).isNotEmpty();
      RetentionPlan plan = home.kernel().contents().planRetention(home.kernel().now());
      assertThat(bytes(data)).as("a plan changes nothing").isEqualTo(before);
      ContentRetention.Run bySize = home.kernel().contents().retain(home.kernel().now());
      long between = bytes(data);
      assertThat(bySize.deleted().bytes())
          .isEqualTo(plan.bytes())
          .isBetween(half, half + OUTPUT * 2);
      assertThat(filesWith(data, first)).as("the oldest").isEmpty();
      Sound.require(home);
      home.activate(rule(0));
      ContentRetention.Run byAge = home.kernel().contents().retain(home.kernel().now());
      long after = bytes(data);
      assertThat(byAge.plan().rules().get("all").kept()).isEqualTo(byAge.deleted().contents());
      assertThat(after).isLessThan(before - half);
      Sound.require(home);
      Sample.bundle(home, Sample.RUN);
      System.out.println(
          EFFECTS
              + " effects: "
              + before
              + " bytes on disk, "
              + between
              + " after "
              + bySize.deleted()
              + ", "
              + after
              + " after "
              + byAge.deleted());
    }
  }
}
