package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Contents that an operator's order had erased: the bundle and the ledger hold without them, and
 * say so; and the same forged by who holds every key.
 */
class BothVerifiersHoldErasuresTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String SEALED =
      TestPolicy.YAML
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention:
            rules: []
            sealed: { contents: [inputs, outputs, observations, artifacts], by: subject }
          """;
  private static final ErasureOrder ALICE =
      new ErasureOrder(TestKeys.TENANT, Optional.of("alice"), Optional.empty());

  @TempDir static Path dir;
  private static TestHome home;
  private static byte[] before;
  private static Digest order;
  private static Digest othersOrder;

  @BeforeAll
  static void erase() {
    home = TestHome.create(dir.resolve("home"), SEALED);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.kernel()
        .change(
            home.change(
                EventKind.HOLD_PLACED,
                new LegalHold("case 7", TestKeys.TENANT, Optional.of("run-7")).toJson()));
    othersOrder = order(new ErasureOrder(TestKeys.TENANT, Optional.of("bob"), Optional.empty()));
    home.clock.forward(Duration.ofSeconds(120));
    Sample.fill(home);
    Sample.close(home, "run-1");
    before = Sample.export(home);
    home.backup();
    home.clock.forward(Duration.ofSeconds(120));
    order = order(ALICE);
  }

  private static Digest order(ErasureOrder of) {
    Envelope signed = home.change(EventKind.CONTENTS_ERASED, of.toJson());
    home.kernel().change(signed);
    assertThat(ContentRetention.erasedAt(home.ledger(), signed.id())).isPresent();
    return signed.id();
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path opinions) {
    home.close();
    OPINION.compare(opinions);
  }

  private static Digest statement() {
    return home.log().stream()
        .filter(event -> event.kind().equals(EventKind.CONTENT_DELETED))
        .map(Event::body)
        .filter(id -> Deletion.read(home.document(id).document()).of().equals(Sample.RUN))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void what_was_erased_is_told_with_its_order_and_day_and_all_else_is_there() {
    byte[] bundle = Sample.export(home);
    Deletion deletion = Deletion.read(home.document(statement()).document());
    assertThat(deletion.reason()).isEqualTo(new Deletion.Order(order));
    assertThat(OPINION.pinned(bundle).verified())
        .anyMatch(line ->
            line.contains(
                " contents: erased at "
                    + Timestamps.format(deletion.deletedAt())
                    + " by order "
                    + order));
    assertThat(Packed.read(bundle).keySet()).noneMatch(name -> name.startsWith("blobs/"));
    assertThat(Packed.read(before).keySet()).anyMatch(name -> name.startsWith("blobs/"));
    assertThat(OPINION.pinned(before).pinned()).as("a bundle of before is in the clear").isTrue();
    AuditReport report = Forgers.audit(home, home.ledger());
    assertThat(report.problems()).isEmpty();
    assertThat(report.verified()).anyMatch(line -> line.contains("by order " + order));
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void an_older_backup_is_sound_and_shows_nothing_of_what_was_erased() {
    Path backup = home.dir().resolve("backup");
    try (LedgerView view = Ledger.openReadOnly(backup.resolve("data"))) {
      Deletion deletion = Deletion.read(home.document(statement()).document());
      for (Deletion.Item item : deletion.contents()) {
        assertThat(view.hasBlob(item.digest())).isTrue();
        if (item.content() != ContentClass.INPUTS) { // these are the tenant's, in the clear
          assertThat(Refused.code(() -> view.blob(item.digest(), 1 << 20))).isEqualTo("LED-096");
        }
      }
      assertThat(Forgers.audit(home, view).problems()).isEmpty();
    }
  }

  // Forged.

  private String found(Digest document, UnaryOperator<JsonValue.Obj> change) {
    return found(new TreeMap<>(Map.of(document, change)));
  }

  private String found(TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes) {
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), changes, new TreeMap<>(), config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      byte[] bundle =
          BundleExport.forged(
              reader, Sample.RUN, Sample.packages(home), home.kernel().system().trust());
      String refused = OPINION.refusal(bundle);
      assertThat(Forgers.audit(home, reader).problems().isEmpty()).isEqualTo(refused.equals("-"));
      return refused;
    }
  }

  private static UnaryOperator<JsonValue.Obj> detail(ErasureOrder of) {
    return Forgers.set("detail", of.toJson());
  }

  @Test
  void a_statement_needs_an_order_that_was_given() {
    String nobodys = Digest.sha256(new byte[] {1}).toString();
    assertThat(found(statement(), Forgers.set("order", JsonValue.of(nobodys))))
        .startsWith("EXE-961");
  }

  @Test
  void the_order_is_about_the_subject_or_run_whose_contents_are_gone() {
    assertThat(found(statement(), Forgers.set("order", JsonValue.of(othersOrder.toString()))))
        .startsWith("EXE-961");
    assertThat(
            found(
                order,
                detail(new ErasureOrder(TestKeys.TENANT, Optional.empty(), Optional.of("run-9")))))
        .startsWith("EXE-961");
    assertThat(
            found(order, detail(new ErasureOrder("other", Optional.of("alice"), Optional.empty()))))
        .startsWith("EXE-961");
  }

  @Test
  void what_events_after_the_order_name_is_not_of_it() {
    assertThat(found(othersOrder, detail(ALICE))).as("each order for itself").isEqualTo("-");
    TreeMap<String, JsonValue> change = new TreeMap<>();
    change.put("order", JsonValue.of(othersOrder.toString()));
    // The earlier order made one about alice, and the statement said to follow from it.
    assertThat(
            foundBoth(
                othersOrder,
                detail(ALICE),
                statement(),
                document -> {
                  TreeMap<String, JsonValue> all = new TreeMap<>(document.members());
                  all.putAll(change);
                  return new JsonValue.Obj(all);
                }))
        .startsWith("EXE-961");
  }

  private String foundBoth(
      Digest first,
      UnaryOperator<JsonValue.Obj> firstChange,
      Digest second,
      UnaryOperator<JsonValue.Obj> secondChange) {
    JsonValue.Obj changed = firstChange.apply((JsonValue.Obj) home.document(first).document());
    Digest renamed = Envelope.sign(SystemChange.TYPE, changed, TestKeys.key("operator")).id();
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(first, firstChange);
    changes.put(
        second,
        document ->
            Forgers.set("order", JsonValue.of(renamed.toString()))
                .apply(secondChange.apply(document)));
    return found(changes);
  }

  @Test
  void a_hold_at_the_place_of_the_order_voids_it() {
    Digest hold =
        home.log().stream()
            .filter(event -> event.kind().equals(EventKind.HOLD_PLACED))
            .findFirst()
            .orElseThrow()
            .body();
    String refused =
        found(hold, detail(new LegalHold("case 7", TestKeys.TENANT, Optional.empty())));
    assertThat(refused.substring(0, 7)).isIn("EXE-950", "EXE-961", "EXE-962");
  }

  private static UnaryOperator<JsonValue.Obj> detail(LegalHold hold) {
    return Forgers.set("detail", hold.toJson());
  }

  @Test
  void a_content_that_is_in_no_statement_is_lost() {
    List<JsonValue> contents =
        Deletion.read(home.document(statement()).document()).toJson().get("contents")
                instanceof JsonValue.Arr all
            ? all.items()
            : List.of();
    assertThat(
            found(
                statement(),
                Forgers.set(
                    "contents", new JsonValue.Arr(contents.subList(0, contents.size() - 1)))))
        .startsWith("RPL-");
  }
}
