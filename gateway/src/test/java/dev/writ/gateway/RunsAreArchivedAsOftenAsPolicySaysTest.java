package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;
import dev.writ.ledger.error.LedgerError;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** When the schedule has runs archived, and what it tells of it. */
class RunsAreArchivedAsOftenAsPolicySaysTest {
  private static final String HOURLY =
      TestPolicy.YAML + "retention: { every_s: 3600, rules: [], archive_after_s: 0 }\n";

  @TempDir Path dir;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private final Deque<RunArchiving.Round> rounds = new ArrayDeque<>();
  private final List<Instant> asked = new ArrayList<>();
  private TestHome home;
  private Metrics metrics;
  private RetentionSchedule schedule;

  @BeforeEach
  void start() {
    home = TestHome.create(dir, HOURLY);
    metrics = new Metrics(home::policy, _ -> Optional.empty());
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    schedule = new RetentionSchedule(home.kernel(), metrics, new JsonLog(out, home.clock));
    schedule.archive(now -> {
      asked.add(now);
      return rounds.isEmpty() ? RunArchiving.Round.NOTHING : rounds.remove();
    });
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private double value(String metric) {
    return metrics
        .text()
        .lines()
        .filter(line -> line.startsWith(metric))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  @Test
  void in_rounds_until_there_is_nothing_more_and_then_once_in_each_period() {
    rounds.add(new RunArchiving.Round(200, 1, 900, 5000, true));
    rounds.add(new RunArchiving.Round(3, 0, 9, 50, false));
    schedule.run();
    schedule.run();
    schedule.run();
    assertThat(asked).as("the first, and the rest at the next look").hasSize(2);
    assertThat(value("writ_archived_runs_total")).isEqualTo(203);
    assertThat(value("writ_archived_contents_total")).isEqualTo(909);
    assertThat(value("writ_archived_bytes_total")).isEqualTo(5050);
    assertThat(said.toString(StandardCharsets.UTF_8))
        .contains("\"runs-archived\"", "200 runs, 900 contents, 5000 bytes; 1 runs cannot be");
    home.clock.forward(Duration.ofSeconds(3599));
    schedule.run();
    assertThat(asked).hasSize(2);
    home.clock.forward(Duration.ofSeconds(1));
    said.reset();
    schedule.run();
    assertThat(asked).hasSize(3);
    assertThat(said.toString(StandardCharsets.UTF_8)).as("nothing was done").isEmpty();
  }

  @Test
  void not_where_policy_leaves_it_to_an_operator() {
    home.activate(HOURLY.replace("every_s: 3600, ", ""));
    schedule.run();
    assertThat(asked).isEmpty();
  }

  @Test
  void while_the_archive_is_away_the_rules_are_applied_and_it_is_tried_again() {
    home.activate(
        HOURLY.replace("rules: []", "rules: [ { name: a, contents: [outputs], keep_s: 0 } ]"));
    home.submit(home.ask("alice").tool("mail").operation("text"));
    schedule.archive(now -> {
      asked.add(now);
      throw new WritException(LedgerError.ARCHIVE_ABSENT, "for a test");
    });
    assertThatThrownBy(schedule::run).hasMessageStartingWith("LED-093");
    assertThat(value("writ_retention_deleted_contents_total")).isEqualTo(1);
    schedule.run();
    assertThat(asked).as("not at each look").hasSize(1);
    home.clock.forward(Duration.ofSeconds(600));
    assertThatThrownBy(schedule::run).hasMessageStartingWith("LED-093");
  }
}
