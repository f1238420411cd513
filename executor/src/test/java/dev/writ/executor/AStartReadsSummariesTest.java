package dev.writ.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.journal.Tables;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.JudgeInputs;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A start reads summaries of the accounts instead of their rows, where it may; and rows that are
 * over do not stay. Tests summarize every seven requests.
 */
class AStartReadsSummariesTest {
  private static final int EFFECTS = 30;

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir, TestPolicy.YAML);
    home.clock.stepping(Duration.ofMillis(1));
  }

  @AfterEach
  void stop() {
    home.stop();
  }

  /** The keys of their rows. */
  private List<String> effects(int count) {
    List<String> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      Digest request = home.submit(home.ask("alice").tool("mail")).request();
      rows.add(Accounts.ROW_PREFIX + request.hex());
    }
    return rows;
  }

  private long used(String budget) {
    return home.kernel().balances("acme").stream()
        .filter(balance -> balance.budget().equals(budget))
        .mapToLong(JudgeInputs.Balance::used)
        .sum();
  }

  /** Spoils rows of accounts while nothing runs. */
  private void spoil(List<String> rows) {
    home.stop();
    try (Ledger ledger = Ledger.open(home.ledgerConfig())) {
      Batch batch = new Batch();
      byte[] spoiled = "no row".getBytes(StandardCharsets.UTF_8);
      rows.forEach(row -> batch.put(Tables.ACCOUNT, row, spoiled));
      ledger.append(batch).await();
    }
  }

  @Test
  void rows_that_a_summary_covers_are_not_read() {
    List<String> first = effects(EFFECTS / 2);
    effects(EFFECTS / 2);
    long cpu = used("cpu");
    spoil(first);
    home.restart();
    assertThat(used("calls")).isEqualTo(EFFECTS);
    assertThat(used("cpu")).isEqualTo(cpu);
    effects(1);
    home.restart();
    assertThat(used("calls")).isEqualTo(EFFECTS + 1);
  }

  @Test
  void under_other_budgets_a_start_reads_all_rows_and_summarizes_again() {
    List<String> first = effects(EFFECTS);
    assertThat(home.rows(Tables.ACCOUNT_SUMMARY)).hasSizeGreaterThan(2);
    home.activate(
        TestPolicy.YAML.replace("limit: 100000, window_s: 86400", "limit: 900, window_s: 172800"));
    home.restart();
    assertThat(used("calls")).isEqualTo(EFFECTS);
    effects(1);
    assertThat(home.rows(Tables.ACCOUNT_SUMMARY)).hasSize(1);
    home.restart();
    assertThat(used("calls")).isEqualTo(EFFECTS + 1);
    spoil(first.subList(0, EFFECTS / 2));
    home.restart();
    assertThat(used("calls")).isEqualTo(EFFECTS + 1);
    home.activate(
        TestPolicy.YAML.replace("limit: 100000, window_s: 86400", "limit: 9, window_s: 86400"));
    assertThatThrownBy(home::restart).as("all rows are read").hasMessageContaining("CAN-003");
  }

  @Test
  void rows_that_are_over_are_deleted_while_it_runs() {
    effects(EFFECTS);
    home.clock.forward(Duration.ofDays(2));
    effects(3);
    home.kernel().contents().collect(home.kernel().now());
    assertThat(home.rows(Tables.ACCOUNT)).hasSize(3);
    assertThat(used("calls")).isEqualTo(3);
    effects(8);
    home.restart();
    assertThat(used("calls")).isEqualTo(11);
    assertThat(home.rows(Tables.ACCOUNT_NONCES)).as("of yesterday").hasSizeLessThan(3);
  }
}
