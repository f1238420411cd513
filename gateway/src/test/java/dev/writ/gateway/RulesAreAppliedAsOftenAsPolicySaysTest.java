package dev.writ.gateway;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class RulesAreAppliedAsOftenAsPolicySaysTest {
  private static final String RULES =
      TestPolicy.YAML
          + "retention: { every_s: 3600, rules: [ { name: a, contents: [outputs], keep_s: 0 } ]"
          + " }\n";

  @TempDir Path dir;
  private final ByteArrayOutputStream said = new ByteArrayOutputStream();
  private TestHome home;
  private Metrics metrics;
  private RetentionSchedule schedule;

  @BeforeEach
  void start() {
    home = TestHome.create(dir, RULES);
    metrics = new Metrics(home::policy, _ -> Optional.empty());
    PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
    schedule = new RetentionSchedule(home.kernel(), metrics, new JsonLog(out, home.clock));
  }

  @AfterEach
  void stop() {
    home.close();
  }

  /** Executes something, and says how many contents a look at the clock then deletes. */
  private double deletedOfOneMore() {
    double before = deleted();
    home.submit(home.ask("alice").tool("mail").operation("text"));
    schedule.run();
    return deleted() - before;
  }

  private double deleted() {
    return metrics
        .text()
        .lines()
        .filter(line -> line.startsWith("writ_retention_deleted_contents_total"))
        .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' '))))
        .sum();
  }

  @Test
  void at_once_and_then_each_time_that_the_period_has_passed() {
    assertThat(deletedOfOneMore()).as("soon after the start").isEqualTo(1);
    assertThat(said.toString(StandardCharsets.UTF_8))
        .containsOnlyOnce("contents-deleted")
        .contains("1 contents, ", "1 statements");
    home.clock.forward(Duration.ofSeconds(3599));
    assertThat(deletedOfOneMore()).as("a second before it is time").isZero();
    home.clock.forward(Duration.ofSeconds(1));
    schedule.run();
    assertThat(deleted()).isEqualTo(2);
    assertThat(metrics.text()).contains("writ_retention_deleted_bytes_total");
  }

  @Test
  void another_policy_says_it_from_then_on() {
    deletedOfOneMore();
    home.activate(RULES.replace("every_s: 3600", "every_s: 60"));
    home.clock.forward(Duration.ofSeconds(60));
    assertThat(deletedOfOneMore()).isEqualTo(1);
    home.activate(RULES.replace("every_s: 3600, ", ""));
    home.clock.forward(Duration.ofDays(1));
    assertThat(deletedOfOneMore()).as("an operator does it").isZero();
  }

  @Test
  void a_failure_is_followed_by_another_attempt_and_not_by_one_at_each_look() {
    home.clock.back(Duration.ofHours(1)); // so that nothing can be stated
    assertThatThrownBy(schedule::run).isInstanceOf(WritException.class);
    home.clock.forward(Duration.ofHours(1));
    home.revoke("executor");
    assertThatThrownBy(schedule::run).isInstanceOf(WritException.class);
    schedule.run();
    home.clock.forward(Duration.ofSeconds(600));
    assertThatThrownBy(schedule::run).isInstanceOf(WritException.class);
  }

  @Test
  void what_a_command_has_deleted_counts_as_well() {
    deletedOfOneMore();
    said.reset();
    home.submit(home.ask("alice").tool("mail").operation("text"));
    home.kernel().contents().retain(home.kernel().now());
    assertThat(deleted()).isEqualTo(2);
    assertThat(said.toString(StandardCharsets.UTF_8))
        .containsOnlyOnce("contents-deleted")
        .contains("1 contents, ", "1 statements");
    home.kernel().contents().retain(home.kernel().now());
    assertThat(deleted()).as("nothing was left").isEqualTo(2);
    assertThat(said.toString(StandardCharsets.UTF_8)).containsOnlyOnce("contents-deleted");
  }
}
