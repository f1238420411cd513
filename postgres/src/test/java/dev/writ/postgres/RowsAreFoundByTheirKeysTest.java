package dev.writ.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.ledger.storage.Family;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Statements with several keys look each up in the index, whatever the planner believes of the
 * table: in a new installation it knows nothing of it until autovacuum has been there, a minute
 * later or more.
 */
class RowsAreFoundByTheirKeysTest {
  private static final int ROWS = 1000;

  private Connection connection;

  @BeforeEach
  void connect() throws SQLException {
    PostgresServer server = PostgresServer.shared();
    PostgresSettings settings = server.settings().withCell(server.newCell());
    new PostgresDatabase(settings, "a test").create().close();
    connection = PostgresDatabase.connect(settings);
    execute("SET plan_cache_mode = force_generic_plan");
  }

  @AfterEach
  void close() throws SQLException {
    connection.close();
  }

  private void execute(String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  /** A temporary table, which autovacuum leaves alone, in front of the one of that name. */
  private void fill(FamilyTable table) throws SQLException {
    String name = table.table();
    execute("CREATE TEMPORARY TABLE " + name + " (LIKE " + name + " INCLUDING ALL)");
    execute(
        "INSERT INTO "
            + name
            + " (cell, key, value) SELECT 1, decode(md5(n::text), 'hex'), '' FROM"
            + " generate_series(1, "
            + ROWS
            + ") AS n");
  }

  private List<String> plan(String sql, String values) throws SQLException {
    StringBuilder numbered = new StringBuilder();
    int parameter = 0;
    for (String part : sql.split("[?]", -1)) {
      numbered.append(parameter == 0 ? "" : "$" + parameter).append(part);
      parameter++;
    }
    execute("PREPARE each AS " + numbered);
    List<String> lines = new ArrayList<>();
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery("EXPLAIN EXECUTE each(" + values + ")")) {
      while (rows.next()) {
        lines.add(rows.getString(1));
      }
    }
    execute("DEALLOCATE each");
    return lines;
  }

  private static void assertByKey(List<String> plan, int lookUps) {
    assertThat(plan).noneMatch(line -> line.contains("Seq Scan") || line.contains("Filter:"));
    assertThat(plan)
        .filteredOn(line -> line.contains("Index Cond:"))
        .hasSize(lookUps)
        .allMatch(line -> line.contains("AND (key = wanted"));
  }

  @ParameterizedTest
  @EnumSource
  void in_every_table(FamilyTable table) throws SQLException {
    Family family = Family.values()[table.ordinal()];
    fill(table);
    String keys = "ARRAY['\\x01'::bytea], 1";
    assertByKey(plan(PostgresStorage.hasSql(family), keys), 1);
    assertThat(plan(WriteStatement.removeSql(table), "1, '\\x01', '\\x02', ARRAY['\\x01'::bytea]"))
        .noneMatch(line -> line.contains("Seq Scan"))
        .anyMatch(line -> line.contains("(key >= $2) AND (key <= $3)"));
    Family other = family == Family.TABLES ? Family.RUNS : Family.TABLES;
    fill(FamilyTable.of(other));
    assertByKey(plan(PostgresStorage.readAheadSql(Set.of(family, other)), keys + ", " + keys), 2);
  }

  /** What the test is about: the planner would not do so by itself. */
  @ParameterizedTest
  @EnumSource(names = "DOCUMENT")
  void unlike_a_list_of_keys(FamilyTable table) throws SQLException {
    fill(table);
    assertThat(
            plan(
                "SELECT key FROM " + table.table() + " WHERE cell = ? AND key = ANY (?)",
                "1, ARRAY['\\x01'::bytea]"))
        .anyMatch(line -> line.contains("Filter:"));
  }
}
