package dev.writ.verify.bundle;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.reads.ReadLog;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What people read is stated in the log: ledger and bundle hold with the statements, and forged
 * ones are found by audit and both verifiers alike.
 */
class BothVerifiersHoldReadsTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String RECORDED =
      TestPolicy.YAML + "reads: [ { tenant: acme, what: [bundles, outputs] } ]\n";
  private static final ReadEvent.Person OTTO =
      new ReadEvent.Person(TestKeys.TENANT, "otto", "session");

  @TempDir static Path dir;
  private static TestHome home;

  @BeforeAll
  static void read() {
    home = TestHome.create(dir.resolve("home"), RECORDED);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.activate(RECORDED.replace("bundles, outputs", "bundles, outputs, reports"));
    Sample.fill(home);
    Sample.close(home, "run-1");
    home.clock.forward(Duration.ofSeconds(5));
    Digest output =
        home.events(TestKeys.TENANT, "run-1").stream()
            .filter(event -> event.kind().equals(EventKind.RECEIPT_SIGNED))
            .findFirst()
            .orElseThrow()
            .body();
    home.kernel()
        .recordRead(
            new ReadLog.Look(
                "a session",
                OTTO,
                List.of(
                    ReadEvent.Thing.of("run-1", output),
                    ReadEvent.Thing.ofRun("run-2"),
                    ReadEvent.Thing.of(output)),
                List.of(ReadClass.OUTPUTS)));
    home.clock.forward(Duration.ofSeconds(5));
    home.kernel()
        .recordRead(
            new ReadLog.Look(
                "a session",
                OTTO,
                List.of(ReadEvent.Thing.ofRun("run-1")),
                List.of(ReadClass.BUNDLES)));
    home.kernel().checkpoint();
    home.kernel()
        .recordRead(
            new ReadLog.Look(
                "a session",
                OTTO,
                List.of(ReadEvent.Thing.ofRun("run-1")),
                List.of(ReadClass.REPORTS)));
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path opinions) {
    home.close();
    OPINION.compare(opinions);
  }

  private static byte[] withReads(LedgerView ledger) {
    return BundleExport.of(
        ledger, Sample.RUN, Sample.packages(home), BundleExport.Options.WHOLE.withReads());
  }

  private static List<Event> events() {
    return home.events(ReadEvent.RUN.tenant(), ReadEvent.RUN.run());
  }

  private static Digest first() {
    return events().getFirst().body();
  }

  @Test
  void ledger_and_bundle_hold_and_say_how_many() {
    assertThat(events()).hasSize(5);
    assertThat(home.fsck().problems()).isEmpty();
    AuditReport report = Forgers.audit(home, home.ledger());
    assertThat(report.problems()).isEmpty();
    assertThat(report.verified())
        .contains("5 reads by people: stated, as policy asks, as the executor signed");
    byte[] bundle = withReads(home.ledger());
    BundleVerifier.Verified verified = OPINION.pinned(bundle);
    assertThat(verified.verified())
        .as("those of the run that the checkpoint covers")
        .contains("2 reads by people: stated, as policy asks, as the executor signed");
    assertThat(verified.notVerified())
        .contains("that these are all reads: only the whole log shows that");
  }

  @Test
  void a_bundle_has_them_only_where_they_are_asked_for() {
    for (BundleExport.Options options :
        List.of(BundleExport.Options.WHOLE, BundleExport.Options.WHOLE.atLatest())) {
      byte[] bundle = BundleExport.of(home.ledger(), Sample.RUN, Sample.packages(home), options);
      assertThat(new String(Packed.read(bundle).get(BundleEntryNames.CONSUMED), UTF_8))
          .doesNotContain(EventKind.CONTENT_READ);
      assertThat(OPINION.pinned(bundle).verified()).noneMatch(line -> line.contains("reads by"));
    }
  }

  @Test
  void one_that_is_taken_out_of_a_bundle_is_missed_by_the_log() {
    byte[] without =
        Sample.forge(
            withReads(home.ledger()),
            entries -> {
              String consumed = new String(entries.get(BundleEntryNames.CONSUMED), UTF_8);
              int last = consumed.lastIndexOf('\n', consumed.length() - 2) + 1;
              entries.put(BundleEntryNames.CONSUMED, consumed.substring(0, last).getBytes(UTF_8));
              return entries;
            });
    assertThat(OPINION.refusal(without)).startsWith("RPL-033");
    byte[] undocumented =
        Sample.forge(
            withReads(home.ledger()),
            entries -> {
              entries.remove(BundleEntryNames.document(first()));
              return entries;
            });
    assertThat(OPINION.refusal(undocumented)).startsWith("RPL-023");
  }

  // Forged.

  private static String found(LedgerConfig forged) {
    try (LedgerView reader = Ledger.openReadOnly(forged.dir())) {
      String refused = OPINION.refusal(withReads(reader));
      assertThat(Forgers.audit(home, reader).problems().isEmpty()).isEqualTo(refused.equals("-"));
      return refused;
    }
  }

  private String found(Digest document, UnaryOperator<JsonValue.Obj> change) {
    LedgerConfig forged = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), document, change, forged);
    return found(forged);
  }

  @Test
  void only_an_executor_states_a_read() {
    LedgerConfig forged = Forgers.place(home, dir);
    TreeMap<Digest, String> signers = new TreeMap<>();
    signers.put(first(), "guardian");
    Forgers.rewrite(home.ledger(), new TreeMap<>(), signers, forged);
    assertThat(found(forged)).startsWith("EXE-951");
  }

  @Test
  void it_has_the_time_of_its_event() {
    assertThat(found(first(), Forgers.set("read_at", JsonValue.of("2026-11-21T12:00:00.000Z"))))
        .startsWith("EXE-953")
        .contains("/read_at");
  }

  @Test
  void its_policy_is_the_one_in_force() {
    String before =
        home.log().stream()
            .filter(event -> event.kind().equals(EventKind.POLICY_ACTIVATED))
            .findFirst()
            .orElseThrow()
            .body()
            .toString();
    assertThat(found(first(), Forgers.set("policy", JsonValue.of(before))))
        .startsWith("EXE-950")
        .contains("/policy");
  }

  @Test
  void policy_has_it_recorded() {
    assertThat(
            found(first(), Forgers.set("what", JsonValue.of(List.of(JsonValue.of("parameters"))))))
        .startsWith("EXE-954")
        .contains("/what");
  }

  @Test
  void it_has_the_form_of_a_statement() {
    LedgerConfig forged = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), first(), Forgers.set("what", JsonValue.of(List.of())), forged);
    try (LedgerView reader = Ledger.openReadOnly(forged.dir())) {
      assertThat(Forgers.audit(home, reader).problems())
          .singleElement()
          .satisfies(problem -> assertThat(problem.code().code()).isEqualTo("EXE-952"));
    }
  }

  @Test
  void it_is_in_its_own_run_and_of_its_kind_and_has_no_seed() {
    Event event = events().getFirst();
    for (UnaryOperator<Event> change :
        List.<UnaryOperator<Event>>of(
            old -> with(old, EventKind.CONTENT_DELETED, Optional.empty()),
            old -> with(old, EventKind.CONTENT_READ, Optional.of("0f".repeat(32))))) {
      LedgerConfig forged = Forgers.place(home, dir);
      Forgers.rewrite(home.ledger(), event, change, forged);
      try (LedgerView reader = Ledger.openReadOnly(forged.dir())) {
        assertThat(Forgers.audit(home, reader).problems())
            .isNotEmpty()
            .allSatisfy(problem -> assertThat(problem.place()).contains("writ/reads"));
      }
    }
  }

  private static Event with(Event old, String kind, Optional<String> seed) {
    return new Event(
        old.tenant(), old.run(), old.seq(), kind, old.prev(), old.body(), old.at(), seed);
  }
}
