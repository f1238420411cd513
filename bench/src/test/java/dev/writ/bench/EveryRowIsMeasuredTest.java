package dev.writ.bench;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.postgres.PostgresServer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** That all steps run and are told, not how fast they are: a test machine says nothing of that. */
class EveryRowIsMeasuredTest {
  private static final Plan TINY = new Plan(1, Duration.ofMillis(1), Duration.ZERO, 0, 8);

  private static final String SCHEMAS = "SELECT nspname FROM pg_namespace ORDER BY 1";

  @TempDir Path directory;

  @Test
  void aRunGivesEveryStepItsRowAndLeavesNothingBehind() throws IOException {
    List<String> told = new ArrayList<>();

    BenchReport report = Bench.measure(TINY, "", Optional.empty(), directory, told::add);

    String fastest = BenchEngines.hasCorretto() ? "ACCP" : "Bouncy Castle";
    assertThat(report.rows())
        .extracting(row ->
            row.step().name().replaceAll("\\d+ events", "N events")
                + " / "
                + row.step().floor().replaceAll("\\d+", "N"))
        .contains(
            "sign, Bouncy Castle / the library alone",
            "verify, Bouncy Castle / the library alone",
            "verify 1024 at once, one key / one by one, " + fastest,
            "verify 1024 at once, 4 keys / one by one, " + fastest,
            "verify 64 at once, one key / one by one, " + fastest,
            "SHA-256 of 64 KB / the JDK's alone",
            "canonicalize 606 B / Jackson, sorted",
            "canonicalize 606 B / erdtman",
            "canonicalize 22 KB / Jackson, sorted",
            "canonicalize 22 KB / erdtman",
            "canonicalize 1 MB / Jackson, sorted",
            "canonicalize 1 MB / erdtman",
            "adapter, a small operation / N a second",
            "a turn in the lane, nobody waits / the same work directly",
            "a call in the lane while another tenant floods it / nobody floods it",
            "a tenant's share of 4 in the lane, one of them with 64 callers / each with N callers",
            "durable commit / fdatasync, growing, N B",
            "durable commit / fdatasync, preallocated, N B",
            "commits of 64 callers / one caller",
            "log for an effect, bytes / N bytes",
            "disk for an effect, merged, bytes / N bytes",
            "open a ledger after kill -9 / a second; N effects",
            "verify a bundle of N events / its signatures and digests on N cores, one by one",
            "no-op effect, 1 caller, Bouncy Castle / N curve operations + fdatasync of N B",
            "no-op effect, 64 callers, Bouncy Castle / N curve operations on N cores",
            "no-op effect over HTTP, 64 callers / the kernel in this process",
            "no-op effect over HTTP, p99, 1 caller / the kernel in this process, pN",
            "echo through the gateway, 64 callers / a bare Vert.x echo",
            "no-op effect over HTTP against echo / a bare Vert.x echo of the request");
    assertThat(report.rows())
        .allSatisfy(row -> {
          assertThat(row.measured().wallNs()).isPositive();
          assertThat(row.floor().wallNs()).isPositive();
          assertThat(row.ratios()).hasSize(TINY.rounds()).allMatch(ratio -> ratio > 0);
        });
    assertThat(told).containsExactly("warming up", "round 1 of 1");
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
    assertTold(report);
  }

  @Test
  void theRowsOfAnMcpServerAreMeasuredWhereTheyAreAskedForAndThereIsASandbox() throws IOException {
    BenchReport report = Bench.measure(TINY, "mcp", Optional.empty(), directory, _ -> {});

    assertThat(report.rows())
        .extracting(row -> row.step().name() + " / " + row.step().floor())
        .isEqualTo(
            !McpSteps.possible()
                ? List.of()
                : List.of(
                    "mcp call, in the process / the server bare",
                    "mcp call over HTTP, 1 caller / the server bare",
                    "mcp call over HTTP, 8 callers / as many servers bare",
                    "mcp, first answer after a start / the server bare"));
    assertThat(report.rows())
        .allSatisfy(row -> assertThat(row.ratios()).allMatch(ratio -> ratio > 0));
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void theRowOfAScriptIsMeasuredWhereItIsAskedFor() throws IOException {
    BenchReport report = Bench.measure(TINY, "js", Optional.empty(), directory, _ -> {});

    assertThat(report.rows())
        .extracting(row -> row.step().name() + " / " + row.step().floor())
        .containsExactly("js effect over HTTP, processor, 64 callers / 1.2 ms");
    assertThat(report.rows())
        .allSatisfy(row -> assertThat(row.ratios()).allMatch(ratio -> ratio > 0));
    try (Stream<Path> left = Files.list(directory)) {
      assertThat(left).isEmpty();
    }
  }

  @Test
  void theRowsOfADatabaseAreMeasuredWhereOneIsNamedAndItIsLeftAsItWas() throws IOException {
    PostgresServer server = PostgresServer.shared();
    List<String> before = server.query(SCHEMAS);

    BenchReport report =
        Bench.measure(TINY, "database", Optional.of(server.newAddress()), directory, _ -> {});

    assertThat(report.rows())
        .extracting(
            row -> row.step().name() + " / " + row.step().floor().replaceAll("\\d+ B", "N B"))
        .containsExactly(
            "database: no-op effect, 1 caller / a transaction of N B there",
            "database: no-op effect, 64 callers / the same on RocksDB",
            "database: server's processor for an effect / 200 us");
    assertThat(report.rows())
        .allSatisfy(row -> assertThat(row.ratios()).allMatch(ratio -> ratio > 0));
    assertThat(server.query(SCHEMAS)).isEqualTo(before);
  }

  private static void assertTold(BenchReport report) {
    ByteArrayOutputStream text = new ByteArrayOutputStream();
    report.print(new PrintStream(text, true, StandardCharsets.UTF_8));
    JsonValue.Obj json = (JsonValue.Obj) Jcs.parse(Jcs.write(report.toJson()));
    assertThat(text.toString(StandardCharsets.UTF_8).lines())
        .hasSize(report.rows().size() + 5) // what it ran on, heads, the count, two empty lines
        .last()
        .asString()
        .endsWith("of " + report.rows().size() + " targets met, by the median.");
    assertThat(((JsonValue.Arr) json.get("rows")).items()).hasSameSizeAs(report.rows());
  }

  @Test
  void aTargetIsAboutRatesOrAboutTimes() {
    BenchTarget rate = new BenchTarget.RateAtLeast(0.9);
    BenchTarget time = new BenchTarget.TimeAtMost(1.2);

    assertThat(rate.ratio(200, 100)).isEqualTo(0.5);
    assertThat(rate.isMet(0.9)).isTrue();
    assertThat(rate.isMet(0.89)).isFalse();
    assertThat(time.ratio(200, 100)).isEqualTo(2);
    assertThat(time.isMet(1.2)).isTrue();
    assertThat(time.isMet(1.21)).isFalse();
  }

  @Test
  void theMedianDecidesAndExtremesAreShown() {
    Step step = new Step("step", "floor", new BenchTarget.TimeAtMost(1.2), null, null);
    List<Row.Round> rounds =
        Stream.of(90.0, 110.0, 900.0)
            .map(ns -> new Row.Round(new Cost(ns, ns), new Cost(100, 0)))
            .toList();

    Row row = Row.of(step, rounds);

    assertThat(List.of(row.least(), row.median(), row.greatest())).containsExactly(0.9, 1.1, 9.0);
    assertThat(row.met()).isTrue();
    assertThat(row.cpuRatio()).as("the floor took no time of ours").isEmpty();
  }

  @Test
  void theSmallDocumentHasTheSizeThatItsRowSays() {
    assertThat(BenchDocuments.small()).hasSize(606);
    assertThat(BenchDocuments.medium().length).isBetween(21_000, 23_000);
    assertThat(BenchDocuments.large().length).isBetween(1_000_000, 1_100_000);
  }

  @Test
  void whatIsComparedDoesTheSameWork() {
    byte[] json = BenchDocuments.small();

    assertThat(Jcs.canonicalize(json)).isEqualTo(JsonSteps.erdtman(json));
    assertThat(Jcs.canonicalize(JsonSteps.jackson(json))).isEqualTo(JsonSteps.erdtman(json));
  }
}
