package dev.writ.gateway.statistics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.TestGateway;
import dev.writ.gateway.TestGateway.Reply;
import dev.writ.gateway.statistics.Happened.Kind;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Counts of the last day, in bounded memory (spec/gateway.md, Statistics). */
class TheLastDayIsCountedTest {
  private static final Instant NOON = Instant.parse("2026-11-21T12:00:30.000Z");

  @TempDir Path dir;

  private static Happened happened(String tenant, String subject, String tool, Instant at) {
    return new Happened(
        tenant,
        subject,
        new Happened.Tool(tool, "1.0.0"),
        at,
        Kind.SUCCEEDED,
        OptionalLong.of(10),
        2,
        Optional.empty());
  }

  @Test
  void percentiles_are_at_most_a_quarter_too_high_and_never_too_low() {
    for (long ms : new long[] {0, 1, 2, 3, 7, 99, 1_000, 12_345, 600_000, 3_000_000}) {
      Cell cell = new Cell();
      for (int i = 0; i < 100; i++) {
        cell.add(
            new Happened(
                "t",
                "s",
                Happened.Tool.OTHER,
                NOON,
                Kind.SUCCEEDED,
                OptionalLong.of(ms),
                0,
                Optional.empty()));
      }
      assertThat(cell.counts().p50Ms().orElseThrow()).isBetween(ms, ms + ms / 4);
      assertThat(cell.counts().p99Ms()).isEqualTo(cell.counts().p50Ms());
    }
    assertThat(new Cell().counts().p50Ms()).isEmpty();
  }

  @Test
  void the_slow_hundredth_shows_in_the_99th_percentile_only() {
    Cell cell = new Cell();
    for (int i = 0; i < 200; i++) {
      OptionalLong took = OptionalLong.of(i < 197 ? 5 : 5_000);
      cell.add(
          new Happened(
              "t", "s", Happened.Tool.OTHER, NOON, Kind.FAILED, took, 0, Optional.of("EXE-500")));
    }
    assertThat(cell.counts().p50Ms().orElseThrow()).isEqualTo(5);
    assertThat(cell.counts().p99Ms().orElseThrow()).isGreaterThanOrEqualTo(5_000);
    assertThat(cell.counts().failed()).isEqualTo(200);
    assertThat(cell.counts().allowed()).isEqualTo(200);
  }

  @Test
  void a_day_later_a_minute_begins_anew_and_what_is_late_does_not_bring_the_old_one_back() {
    Rings rings = new Rings(NOON);
    rings.add(happened("acme", "alice", "mail", NOON));
    rings.add(happened("acme", "alice", "mail", NOON.plus(Duration.ofDays(1))));
    rings.add(happened("acme", "alice", "mail", NOON)); // its place is taken
    assertThat(calls(rings.table("acme", NOON.plus(Duration.ofDays(1)), 1, 1_440))).isEqualTo(1);
    assertThat(calls(rings.table("acme", NOON, 1, 1))).isZero();
  }

  private static long calls(StatisticsTable table) {
    return table.series().stream().mapToLong(step -> step.counts().calls()).sum();
  }

  @Test
  void steps_are_whole_and_the_last_one_holds_the_present() {
    Rings rings = new Rings(NOON);
    for (int i = 0; i < 10; i++) {
      rings.add(happened("acme", "alice", "mail", NOON.minus(Duration.ofMinutes(i))));
    }
    StatisticsTable table = rings.table("acme", NOON, 5, 2);
    assertThat(table.series())
        .extracting(step -> step.at().toString())
        .containsExactly("2026-11-21T11:55:00Z", "2026-11-21T12:00:00Z");
    assertThat(table.series()).extracting(step -> step.counts().calls()).containsExactly(5L, 1L);
    assertThat(rings.table("other", NOON, 5, 2).series())
        .allSatisfy(step -> assertThat(step.counts().calls()).isZero());
  }

  @Test
  void memory_is_bounded_whatever_names_come_and_the_sums_stay_right() {
    Rings rings = new Rings(NOON.minus(Duration.ofDays(1)), 2_000, 3);
    for (int i = 0; i < 20_000; i++) {
      Instant at = NOON.plusSeconds(i);
      rings.add(happened("acme", "subject-" + i, "tool-" + i % 1_000, at));
    }
    assertThat(rings.cells()).isLessThanOrEqualTo(2_000);
    StatisticsTable table = rings.table("acme", NOON.plusSeconds(20_000), 60, 24);
    assertThat(calls(table)).isEqualTo(20_000);
    assertThat(table.since()).isEqualTo(NOON.minus(Duration.ofDays(1)));
    assertThat(table.namedFrom()).isAfter(NOON);
    for (int i = 0; i < 10; i++) {
      rings.add(happened("tenant-" + i, "s", "t", NOON.plusSeconds(20_000)));
    }
    assertThat(calls(rings.table("tenant-9", NOON.plusSeconds(20_000), 60, 24))).isEqualTo(1);
    StatisticsTable forgotten = rings.table("acme", NOON.plusSeconds(20_000), 60, 24);
    assertThat(calls(forgotten)).isZero();
    assertThat(forgotten.since()).as("it says so").isEqualTo(NOON.plusSeconds(20_000));
  }

  @Test
  void the_most_used_come_first() {
    Rings rings = new Rings(NOON);
    for (String tool : List.of("b", "a", "c", "c")) {
      rings.add(happened("acme", "alice", tool, NOON));
    }
    assertThat(rings.table("acme", NOON, 1, 1).tools())
        .extracting(Map.Entry::getKey)
        .extracting(Happened.Tool::name)
        .containsExactly("c", "a", "b");
  }

  private static String text(Reply reply, String member) {
    return new String(Jcs.write(reply.json().get(member)), StandardCharsets.UTF_8);
  }

  @Test
  void a_server_counts_what_it_answers_for_those_who_see_the_whole_tenant() {
    try (TestGateway gateway = TestGateway.start(dir)) {
      gateway.submit(gateway.home.ask("alice").tool("mail").sign());
      var repeated = gateway.home.ask("alice").tool("mail").sign();
      gateway.submit(repeated);
      gateway.submit(repeated);
      gateway.submit(gateway.home.ask("alice").tool("mail").params("{\"forbidden\":1}").sign());
      gateway.submit(gateway.home.ask("alice").tool("pay").sign());
      gateway.submit(gateway.home.ask("alice").tool("<script>").sign());
      gateway.submit(gateway.home.ask("eve").tenant("other").tool("mail").sign());

      Reply reply = gateway.get("deputy", "/v1/statistics?step_s=60&steps=1440");
      assertThat(reply.status()).isEqualTo(200);
      assertThat(text(reply, "tools"))
          .contains("\"calls\":3,\"cost\":0,\"denied\":1,\"failed\":0", "\"tool\":\"mail\"")
          .contains("\"tool\":\"other\"")
          .doesNotContain("script");
      assertThat(text(reply, "subjects")).contains("alice").doesNotContain("eve");
      assertThat(text(reply, "codes"))
          .contains("{\"calls\":1,\"code\":\"GRD-102\"}")
          .doesNotContain("GRD-103", "\"code\":\"\"");
      for (String who : List.of("alice", "rita", "eve")) {
        Reply refused = gateway.get(who, "/v1/statistics");
        assertThat(refused.status()).isEqualTo(403);
        assertThat(refused.string("code")).isEqualTo("GWY-100");
      }
    }
  }

  @Test
  void what_happened_before_the_start_is_read_from_the_log_once() {
    try (TestGateway gateway = TestGateway.start(dir)) {
      gateway.submit(gateway.home.ask("alice").tool("mail").sign());
      gateway.submit(gateway.home.ask("alice").tool("mail").params("{\"forbidden\":1}").sign());
      Statistics later = new Statistics(gateway.home.kernel());
      for (int i = 0; i < 2; i++) {
        JsonValue.Obj table = later.table("acme", 60, 24);
        assertThat(new String(Jcs.write(table.get("subjects")), StandardCharsets.UTF_8))
            .contains("\"allowed\":1", "\"calls\":2", "\"denied\":1");
        assertThat(new String(Jcs.write(table.get("codes")), StandardCharsets.UTF_8))
            .isEqualTo("[{\"calls\":1,\"code\":\"GRD-102\"}]");
      }
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "?step_s=30",
        "?step_s=90",
        "?step_s=0",
        "?steps=0",
        "?step_s=60&steps=1441",
        "?step_s=86460&steps=1",
        "?steps=x"
      })
  void steps_of_another_form_are_refused(String query) {
    try (TestGateway gateway = TestGateway.start(dir)) {
      assertThat(gateway.get("deputy", "/v1/statistics" + query).string("code"))
          .isEqualTo("GWY-018");
    }
  }
}
