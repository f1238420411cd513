package dev.writ.tools.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A statement reads its inputs and touches nothing else. */
@Timeout(300)
class HostileSqlTest {
  private static final String ENDLESS =
      "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t) SELECT ";

  private static String end(Call call) {
    DriverOutcome outcome = call.run();
    return outcome.end() + " " + outcome.reason();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "ATTACH 'FILE' AS x|sql-error",
        "ATTACH 'file:FILE?mode=rwc' AS x|sql-error",
        "VACUUM INTO 'FILE'|not-read-only",
        "SELECT load_extension('FILE')|sql-error",
        "SELECT writefile('FILE', 'x')|sql-error",
        "SELECT readfile('FILE')|sql-error",
        "PRAGMA temp_store_directory = 'DIR'|sql-error",
        "PRAGMA data_store_directory = 'DIR'|ok",
        "PRAGMA journal_mode = WAL|not-read-only",
        "CREATE TABLE x(a)|not-read-only",
        "CREATE TEMP TABLE x(a)|not-read-only",
        "INSERT INTO t VALUES (2)|not-read-only",
        "UPDATE t SET a = 2|not-read-only",
        "DROP TABLE t|not-read-only",
        "CREATE VIRTUAL TABLE v USING fts5(a)|not-read-only",
      })
  void noStatementReachesTheHost(String sql, String reason, @TempDir Path dir) throws Exception {
    Path file = dir.resolve("made.db");
    String text = sql.replace("FILE", file.toString()).replace("DIR", dir.toString());
    DriverOutcome outcome = TestTools.sql(text).input("t.csv", "a\n1\n").run();
    assertThat(outcome.reason()).as(outcome.message()).isEqualTo(reason);
    try (var left = Files.list(dir)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void whatIsOnTheHostCannotBeSeen() {
    assertThat(end(TestTools.sql("ATTACH '/etc/passwd' AS x"))).isEqualTo("FAILED sql-error");
    assertThat(TestTools.sql("SELECT file FROM pragma_database_list").text()).contains("[[\"\"]]");
  }

  @Test
  void anEndlessQueryEndsAtItsTime() {
    assertThat(end(TestTools.sql(ENDLESS + "count(*) FROM t").cpuMs(200)))
        .isEqualTo("TIMED_OUT cpu-time");
    assertThat(end(TestTools.sql(ENDLESS + "count(*) FROM t").wallMs(200)))
        .isEqualTo("TIMED_OUT wall-time");
  }

  @Test
  void aLargeResultEndsAtTheCeiling() {
    assertThat(end(TestTools.sql(ENDLESS + "n FROM t").outputBytes(10_000)))
        .isEqualTo("KILLED output-limit");
    String limited = ENDLESS + "n FROM t LIMIT 3";
    int size = TestTools.sql(limited).text().length();
    assertThat(end(TestTools.sql(limited).outputBytes(size))).isEqualTo("SUCCEEDED ok");
    assertThat(end(TestTools.sql(limited).outputBytes(size - 1))).isEqualTo("KILLED output-limit");
  }

  @Test
  void memoryEndsAtTheCeiling() {
    long ceiling = 40 << 20;
    for (String sql :
        new String[] {
          "SELECT length(replace(hex(zeroblob(20000000)), '0', 'abc'))",
          "SELECT zeroblob(900000000)",
          "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 3000)"
              + " SELECT group_concat(hex(zeroblob(10000))) FROM t",
        }) {
      DriverOutcome outcome = TestTools.sql(sql).memoryBytes(ceiling).run();
      assertThat(outcome.end() + " " + outcome.reason()).as(sql).isEqualTo("KILLED out-of-memory");
      assertThat(outcome.metrics().memoryBytes()).isLessThanOrEqualTo(ceiling);
    }
    assertThat(end(TestTools.sql("SELECT 1").memoryBytes(16 << 20)))
        .isEqualTo("KILLED out-of-memory");
  }

  @Test
  void aDeepExpressionIsAnErrorAndNoCrash() {
    String deep = "SELECT " + "(".repeat(5000) + "1" + ")".repeat(5000);
    assertThat(end(TestTools.sql(deep))).isEqualTo("SUCCEEDED ok");
    String sum = "SELECT 1" + " + 1".repeat(5000);
    assertThat(end(TestTools.sql(sum))).isEqualTo("FAILED sql-error");
  }

  @Test
  void nothingStaysForTheNextQuery() {
    TestTools.sql("PRAGMA case_sensitive_like = 1").run();
    TestTools.sql("SELECT random()").run();
    assertThat(TestTools.sql("SELECT 'A' LIKE 'a', (SELECT count(*) FROM sqlite_schema)").text())
        .contains("[[1,0]]");
  }

  @Test
  void aBrokenDatabaseIsBadInputOrAnError() {
    byte[] good = TestTools.resource("sql/pets.db");
    for (int at = 0; at < good.length; at += 37) {
      byte[] bad = good.clone();
      bad[at] ^= (byte) 0xff;
      DriverOutcome outcome = TestTools.sql("SELECT * FROM pets").input("p.db", bad).run();
      assertThat(outcome.reason()).as("byte " + at).isIn("ok", "bad-input", "sql-error");
    }
  }
}
