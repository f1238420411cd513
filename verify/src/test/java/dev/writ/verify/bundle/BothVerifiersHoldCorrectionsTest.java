package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ClockCorrection;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestHome;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import dev.writ.verify.testing.Sound;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A run over a clock that was ahead and was corrected; and the same forged by who holds every key:
 * time goes back only where an operator says so, once, at that place.
 */
class BothVerifiersHoldCorrectionsTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @TempDir Path dir;
  private TestHome home;

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  @BeforeEach
  void open() {
    home = CorrectedRun.home(dir.resolve("home"));
  }

  @AfterEach
  void close() {
    home.close();
  }

  private Event correction() {
    return home.log().stream()
        .filter(e -> e.kind().equals(EventKind.CLOCK_CORRECTED))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_run_over_a_correction_is_verified_and_audited() {
    CorrectedRun.back(home);
    byte[] bundle = Sample.export(home);
    assertThat(OPINION.pinned(bundle).pinned()).isTrue();
    Sound.require(home);
    home.clock.forward(CorrectedRun.AHEAD);
    home.restart();
    assertThat(Sample.export(home)).isEqualTo(bundle);
  }

  @Test
  void a_step_forward_that_was_signed_is_verified_too() {
    CorrectedRun.forward(home);
    assertThat(OPINION.pinned(Sample.export(home)).pinned()).isTrue();
    Sound.require(home);
  }

  private String forged(Consumer<LedgerConfig> rewrite) {
    LedgerConfig config = Forgers.place(home, dir);
    rewrite.accept(config);
    byte[] bundle;
    AuditReport audit;
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      bundle =
          BundleExport.forged(
              reader, Sample.RUN, Sample.packages(home), home.kernel().system().trust());
      audit = Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
    }
    try {
      OPINION.verify(bundle, BundleVerifier.Options.UNPINNED);
    } catch (WritException e) {
      assertThat(audit.problems()).isNotEmpty();
      return e.code().code();
    }
    assertThat(audit.problems()).isEmpty();
    return "nothing";
  }

  private String detail(UnaryOperator<ClockCorrection> change) {
    return document(
        document -> {
          TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
          all.put(
              "detail",
              change.apply(ClockCorrection.read((JsonValue.Obj) all.get("detail"))).toJson());
          return new JsonValue.Obj(all);
        },
        "operator");
  }

  private String document(UnaryOperator<JsonValue.Obj> change, String signer) {
    Digest body = correction().body();
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(body, change);
    TreeMap<Digest, String> signers = new TreeMap<>();
    signers.put(body, signer);
    return forged(to -> Forgers.rewrite(home.ledger(), changes, signers, to));
  }

  private String event(Event event, Instant at) {
    return forged(to ->
        Forgers.rewrite(
            home.ledger(),
            event,
            e ->
                new Event(
                    e.tenant(), e.run(), e.seq(), e.kind(), e.prev(), e.body(), at, e.prngSeed()),
            to));
  }

  @Test
  void a_forged_correction_is_found() {
    CorrectedRun.back(home);
    assertThat(detail(c -> c)).isEqualTo("nothing");
    // By who is no operator, and by who is of one tenant.
    assertThat(document(document -> document, "owner")).isEqualTo("CAN-053");
    assertThat(document(document -> document, "alice")).isEqualTo("CAN-053");
    // For another place of the log.
    assertThat(
            detail(c -> new ClockCorrection(c.from(), c.to(), c.treeSize() - 1, c.incarnation())))
        .isEqualTo("EXE-981");
    // From an earlier time than the log had.
    assertThat(
            detail(c ->
                new ClockCorrection(
                    c.from().minus(Duration.ofDays(70)), c.to(), c.treeSize(), c.incarnation())))
        .isEqualTo("EXE-981");
    // To another time than its event has.
    assertThat(
            detail(c ->
                new ClockCorrection(
                    c.from(), c.to().plusSeconds(60), c.treeSize(), c.incarnation())))
        .isEqualTo("EXE-981");
    // It begins no new incarnation.
    assertThat(detail(c -> new ClockCorrection(c.from(), c.to(), c.treeSize(), Optional.of(1L))))
        .isEqualTo("EXE-950");
  }

  @Test
  void time_that_goes_back_without_one_or_below_it_is_found() {
    CorrectedRun.back(home);
    Event closed = home.last("acme", "run-1").orElseThrow();
    Instant to = correction().at();
    assertThat(event(closed, to.minusMillis(1))).isEqualTo("EXE-982");
    Event first = home.events("acme", "run-1").getFirst();
    assertThat(event(first, first.at().minus(Duration.ofDays(2)))).isEqualTo("EXE-982");
    Event ahead =
        home.log().stream()
            .filter(e -> e.kind().equals(EventKind.RECEIPT_SIGNED))
            .skip(1)
            .findFirst()
            .orElseThrow();
    assertThat(event(ahead, to)).isEqualTo("EXE-982");
  }
}
