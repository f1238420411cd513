package dev.writ.tools.sql;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.tools.Call;
import dev.writ.tools.TestTools;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A query's result is a function of its text, arguments, inputs, seed and time. */
class SqlToolTest {
  private static final String PEOPLE =
      "\ufeffname,age,score,code\r\n"
          + "Ann,30,1.5,007\r\n"
          + "\"B, \"\"ob\"\"\",,2,\"\"\r\n"
          + "\"two\n"
          + "lines\",-7,1e2,x";

  private static String rows(Call call) {
    String text = call.text();
    return text.substring(text.indexOf("\"rows\":") + 7, text.length() - 1);
  }

  @Test
  void csvBecomesATypedTable() {
    assertThat(TestTools.sql("SELECT * FROM people").input("people.csv", PEOPLE).text())
        .isEqualTo(
            "{\"columns\":[\"name\",\"age\",\"score\",\"code\"],\"rows\":["
                + "[\"Ann\",30,1.5,\"007\"],[\"B, \\\"ob\\\"\",null,2,\"\"],"
                + "[\"two\\nlines\",-7,100,\"x\"]]}");
    assertThat(
            rows(
                TestTools.sql("SELECT DISTINCT typeof(age), typeof(score) FROM people")
                    .input("people.csv", PEOPLE)))
        .isEqualTo("[[\"integer\",\"real\"],[\"null\",\"real\"]]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1;-2;0|integer",
        "9223372036854775807;-9223372036854775808|integer",
        "9223372036854775808|real",
        "1;2.5|real",
        "1e400|text",
        "01|text",
        "+1|text",
        "' 1'|text",
        "1;x|text",
        "0x10|text",
        "1.|text",
        ".5|text",
        "\"5\"|integer",
      })
  void aColumnIsTheNarrowestTypeThatHoldsAll(String values, String type) {
    String csv = "c\n" + values.replace(';', '\n') + "\n";
    assertThat(rows(TestTools.sql("SELECT DISTINCT typeof(c) FROM t").input("t.csv", csv)))
        .isEqualTo("[[\"" + type + "\"]]");
  }

  @Test
  void jsonListsOfObjectsBecomeTables() {
    String json =
        "[{\"b\":1,\"a\":\"x\"},{\"c\":true,\"b\":1.5},{\"a\":null,\"c\":{\"z\":1,\"y\":[]}}]";
    assertThat(TestTools.sql("SELECT * FROM t").input("t.json", json).text())
        .isEqualTo(
            "{\"columns\":[\"a\",\"b\",\"c\"],\"rows\":[[\"x\",1,null],[null,1.5,1],"
                + "[null,null,\"{\\\"y\\\":[],\\\"z\\\":1}\"]]}");
  }

  @Test
  void aDatabaseFileIsOpenedAndCanBeJoined() {
    byte[] db = TestTools.resource("sql/pets.db");
    assertThat(
            rows(
                TestTools.sql(
                        "SELECT p.name, o.owner FROM pets p JOIN o ON o.pet = p.name ORDER BY 1")
                    .input("pets.db", db)
                    .input("o.csv", "pet,owner\nRex,Ann\nTom,Bob\n")))
        .isEqualTo("[[\"Rex\",\"Ann\"],[\"Tom\",\"Bob\"]]");
    assertThat(
            rows(
                TestTools.sql("SELECT count(*) FROM pets")
                    .input("wal.sqlite", TestTools.resource("sql/wal.db"))))
        .as("a file in the mode with a write-ahead log")
        .isEqualTo("[[2]]");
  }

  @Test
  void valuesAreSafeInJson() {
    assertThat(
            rows(
                TestTools.sql(
                    "SELECT 9007199254740991, 9007199254740992, -9223372036854775807 - 1, 0.1,"
                        + " -0.0, 9e999, -9e999, x'00ff', '', x'', NULL, CAST(x'ff' AS TEXT),"
                        + " char(0, 233, 128512), 1 = 1")))
        .isEqualTo(
            "[[9007199254740991,\"9007199254740992\",\"-9223372036854775808\",0.1,0,\"Infinity\","
                + "\"-Infinity\",{\"base64\":\"AP8=\"},\"\",{\"base64\":\"\"},null,"
                + "{\"base64\":\"/w==\"},\"\\u0000é😀\",1]]");
  }

  @Test
  void argumentsAreBoundAndNeverText() {
    String injection = "x' OR 1=1; DROP TABLE t; --";
    assertThat(
            rows(
                TestTools.sql(
                        "SELECT ?1, typeof(?2), ?3, ?4, ?5 IS NULL, count(*) FROM t WHERE a = ?1",
                        JsonValue.of(injection),
                        JsonValue.of(5),
                        new JsonValue.Num(0.5),
                        JsonValue.TRUE,
                        JsonValue.NULL)
                    .input("t.csv", "a\n1\n2\n")))
        .isEqualTo("[[\"" + injection + "\",\"integer\",0.5,1,1,0]]");
    assertThat(TestTools.sql("SELECT ?").run().reason()).isEqualTo("bad-params");
    assertThat(TestTools.sql("SELECT 1", JsonValue.NULL).run().reason()).isEqualTo("bad-params");
  }

  @Test
  void randomComesFromTheSeed() {
    String sql = "SELECT random(), hex(randomblob(16))";
    String one = rows(TestTools.sql(sql).seed(Call.seed(1)));
    assertThat(rows(TestTools.sql(sql).seed(Call.seed(1)))).isEqualTo(one);
    assertThat(rows(TestTools.sql(sql).seed(Call.seed(2)))).isNotEqualTo(one);
    byte[] late = Call.seed(1);
    late[31] ^= 1;
    assertThat(rows(TestTools.sql(sql).seed(late))).as("every bit of it").isNotEqualTo(one);
  }

  @Test
  void theTimeIsTheRecordedOne() {
    String sql = "SELECT datetime('now'), datetime('now', 'localtime'), CURRENT_TIMESTAMP";
    assertThat(rows(TestTools.sql(sql)))
        .isEqualTo("[[\"2026-01-02 03:04:05\",\"2026-01-02 03:04:05\",\"2026-01-02 03:04:05\"]]");
    assertThat(rows(TestTools.sql("SELECT date('now')").time("1999-12-31T23:59:59Z")))
        .isEqualTo("[[\"1999-12-31\"]]");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "t.csv|a,b;1|t.csv, line 2: 1 fields, the first line has 2",
        "t.csv|a;\"x|t.csv, line 2: a quote that is not closed",
        "t.csv|a;x\"y|t.csv, line 2: a quote inside a field that does not begin with one",
        "t.csv|a;\"x\"y|t.csv, line 2: text after a closing quote",
        "t.csv|a,;1,2|t.csv has a column without a name",
        "t.csv|a,A;1,2|t.csv: duplicate column name: A",
        "t.json|{}|t.json is not a list of objects",
        "t.json|[1]|t.json: item 0 is not an object",
        "t.json|[]|t.json names no column",
        "t.db|not a database at all, but long enough to look at|t.db: file is not a database",
        "t.txt|x|t.txt ends with none of .csv, .json, .db, .sqlite",
        "sqlite_x.csv|a;1|sqlite_x.csv: object name reserved for internal use: sqlite_x",
      })
  void whatIsNoTableIsRefusedWithItsPlace(String name, String content, String message) {
    DriverOutcome outcome = TestTools.sql("SELECT 1").input(name, content.replace(';', '\n')).run();
    assertThat(outcome.reason()).as(outcome.message()).isEqualTo("bad-input");
    assertThat(outcome.message()).isEqualTo(message);
  }

  @Test
  void aLargeSortNeedsNoFile() {
    String sql =
        "WITH RECURSIVE t(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM t LIMIT 5000),"
            + " s AS (SELECT n, hex(zeroblob(400)) || n AS k FROM t ORDER BY k DESC LIMIT -1)"
            + " SELECT count(*), max(n) FROM s";
    assertThat(rows(TestTools.sql(sql))).isEqualTo("[[5000,5000]]");
  }

  @Test
  void twoInputsForOneTableAreRefused() {
    DriverOutcome outcome =
        TestTools.sql("SELECT 1").input("t.csv", "a\n1\n").input("T.json", "[{\"a\":1}]").run();
    assertThat(outcome.reason()).isEqualTo("bad-input");
  }

  @Test
  void mistakesInTheStatementAreNamed() {
    DriverOutcome outcome = TestTools.sql("SELEC 1").run();
    assertThat(Call.show(outcome)).isEqualTo("FAILED sql-error near \"SELEC\": syntax error - {}");
    assertThat(TestTools.sql(" -- nothing").run().message()).isEqualTo("no statement");
    assertThat(TestTools.sql("SELECT 1; SELECT 2").run().message())
        .isEqualTo("more than one statement");
    assertThat(TestTools.sql("SELECT 1 ; -- end").text()).contains("[[1]]");
  }
}
