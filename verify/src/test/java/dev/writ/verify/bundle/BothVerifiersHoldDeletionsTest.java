package dev.writ.verify.bundle;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.stage.Served;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Contents that rules of policy had deleted: the bundle and the ledger hold without them, and say
 * so; and the same forged by who holds every key.
 */
class BothVerifiersHoldDeletionsTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String RULES =
      TestPolicy.YAML
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention:
            rules:
              - { name: mail, contents: [outputs], match: { tool: mail }, keep_s: 86400 }
              - { name: all, contents: [inputs, outputs, observations], match: { tenant: acme }, keep_s: 60 }
          """;

  @TempDir static Path dir;
  private static TestHome home;
  private static byte[] before;
  private static ContentRetention.Run done;

  @BeforeAll
  static void delete() {
    home = TestHome.create(dir.resolve("home"), RULES);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.kernel()
        .change(
            home.change(
                EventKind.HOLD_PLACED,
                new LegalHold("case 7", TestKeys.TENANT, Optional.of("run-7")).toJson()));
    home.activate(RULES.replace("keep_s: 86400", "keep_s: 86401"));
    Sample.fill(home);
    home.submit(home.ask("alice").run("run-7").params("{\"held\":true}"));
    Sample.close(home, "run-1");
    before = Sample.export(home);
    home.clock.forward(Duration.ofSeconds(90));
    done = home.kernel().contents().retain(home.kernel().now());
  }

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path opinions) {
    home.close();
    OPINION.compare(opinions);
  }

  private static List<Deletion> statements() {
    return statementIds().stream().map(id -> Deletion.read(home.document(id).document())).toList();
  }

  private static List<Digest> statementIds() {
    return home.log().stream()
        .filter(event -> event.kind().equals(EventKind.CONTENT_DELETED))
        .map(Event::body)
        .toList();
  }

  private static Digest aboutTheRun() {
    return statementIds().stream()
        .filter(id -> Deletion.read(home.document(id).document()).of().equals(Sample.RUN))
        .findFirst()
        .orElseThrow();
  }

  @Test
  void what_is_old_is_gone_and_everything_that_is_signed_is_there() {
    assertThat(done.deleted().contents()).isPositive();
    assertThat(done.deleted().bytes()).isEqualTo(done.plan().bytes());
    assertThat(statements())
        .allSatisfy(statement -> {
          assertThat(statement.reason())
              .isEqualTo(new Deletion.Rule(home.policy().digest(), "all"));
          assertThat(statement.of()).isIn(Sample.RUN, Sample.OTHER);
        });
    List<Digest> gone =
        statements().stream()
            .flatMap(statement -> statement.contents().stream())
            .map(Deletion.Item::digest)
            .toList();
    assertThat(gone).noneMatch(home.ledger()::hasBlob).noneMatch(home.ledger()::hasDocument);
    assertThat(home.fsck().problems()).isEmpty();
    AuditReport report = Forgers.audit(home, home.ledger());
    assertThat(report.problems()).isEmpty();
    long items = statements().stream().mapToLong(s -> s.contents().size()).sum();
    assertThat(report.verified())
        .contains(
            items
                + " contents: deleted, by rules of the policies in force, as the executor signed");
    ContentRetention.Run again = home.kernel().contents().retain(home.kernel().now());
    assertThat(again.deleted()).isEqualTo(ContentRetention.Deleted.NOTHING);
  }

  @Test
  void a_bundle_shows_what_is_gone_and_by_which_statement() {
    byte[] bundle = Sample.export(home);
    BundleVerifier.Verified verified = OPINION.pinned(bundle);
    assertThat(verified.verified()).anyMatch(line -> line.contains("contents: deleted"));
    long left = Packed.read(bundle).keySet().stream().filter(n -> n.startsWith("blobs/")).count();
    long all = Packed.read(before).keySet().stream().filter(n -> n.startsWith("blobs/")).count();
    assertThat(left).isPositive().isLessThan(all);
    assertThat(new String(Packed.read(bundle).get(BundleEntryNames.CONSUMED), UTF_8))
        .contains(EventKind.CONTENT_DELETED);
    assertThat(OPINION.pinned(before).pinned()).as("as it was before").isTrue();
  }

  @Test
  void a_repeat_gets_the_receipt_without_what_is_deleted() {
    Event first =
        home.events(TestKeys.TENANT, "run-1").stream()
            .filter(event -> event.kind().equals(EventKind.RECEIPT_SIGNED))
            .findFirst()
            .orElseThrow();
    Served served = home.kernel().receipt(TestKeys.TENANT, first.body());
    assertThat(served.receipt().output()).isPresent();
    assertThat(served.output()).isEmpty();
  }

  // Forged.

  private String found(Digest document, UnaryOperator<JsonValue.Obj> change) {
    TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes = new TreeMap<>();
    changes.put(document, change);
    return found(changes, new TreeMap<>());
  }

  private String found(
      TreeMap<Digest, UnaryOperator<JsonValue.Obj>> changes, TreeMap<Digest, String> signers) {
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(home.ledger(), changes, signers, config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      byte[] bundle =
          BundleExport.forged(
              reader, Sample.RUN, Sample.packages(home), home.kernel().system().trust());
      String refused = OPINION.refusal(bundle);
      assertThat(Forgers.audit(home, reader).problems().isEmpty()).isEqualTo(refused.equals("-"));
      return refused;
    }
  }

  @Test
  void content_that_is_missing_without_a_statement_is_lost() {
    String blob =
        Packed.read(before).keySet().stream()
            .filter(name -> name.startsWith("blobs/"))
            .findFirst()
            .orElseThrow();
    byte[] without =
        Sample.forge(
            before,
            entries -> {
              entries.remove(blob);
              return entries;
            });
    assertThat(OPINION.refusal(without)).startsWith("RPL-023").contains(blob);
  }

  @Test
  void content_that_is_stated_to_be_deleted_is_not_in_the_bundle() {
    TreeMap<String, byte[]> whole = Packed.read(before);
    byte[] with =
        Sample.forge(
            Sample.export(home),
            entries -> {
              whole.forEach((name, bytes) -> {
                if (name.startsWith("blobs/")) {
                  entries.put(name, bytes);
                }
              });
              return entries;
            });
    assertThat(OPINION.refusal(with)).startsWith("RPL-024 blobs/");
  }

  @Test
  void only_an_executor_states_a_deletion() {
    TreeMap<Digest, String> signers = new TreeMap<>();
    signers.put(aboutTheRun(), "guardian");
    assertThat(found(new TreeMap<>(), signers)).startsWith("EXE-951");
  }

  @Test
  void the_rule_is_one_of_the_policy_in_force_and_the_one_that_covers_the_content() {
    assertThat(found(aboutTheRun(), Forgers.set("rule", JsonValue.of("none"))))
        .startsWith("EXE-961")
        .contains("/rule");
    assertThat(found(aboutTheRun(), Forgers.set("rule", JsonValue.of("mail"))))
        .startsWith("EXE-961");
    String first =
        home.log().stream()
            .filter(event -> event.kind().equals(EventKind.POLICY_ACTIVATED))
            .findFirst()
            .orElseThrow()
            .body()
            .toString();
    assertThat(found(aboutTheRun(), Forgers.set("policy", JsonValue.of(first))))
        .startsWith("EXE-950");
  }

  @Test
  void nothing_is_deleted_before_the_age_of_its_rule() {
    Digest policy =
        home.log().stream()
            .filter(event -> event.kind().equals(EventKind.POLICY_ACTIVATED))
            .reduce((_, last) -> last)
            .orElseThrow()
            .body();
    assertThat(
            found(
                policy,
                document ->
                    (JsonValue.Obj)
                        Jcs.parse(
                            new String(Jcs.write(document), UTF_8)
                                .replace("\"keep_s\":60", "\"keep_s\":91")
                                .getBytes(UTF_8))))
        .startsWith("EXE-961")
        .contains("/deleted_at");
  }

  @Test
  void a_statement_names_contents_of_events_and_no_documents() {
    List<JsonValue> contents = new ArrayList<>();
    Deletion deletion = Deletion.read(home.document(aboutTheRun()).document());
    deletion.contents().forEach(item -> contents.add(json(item)));
    Event last = home.events(TestKeys.TENANT, "run-1").getLast();
    contents.add(json(new Deletion.Item(ContentClass.OUTPUTS, last.body(), last.seq(), 1)));
    assertThat(found(aboutTheRun(), Forgers.set("contents", new JsonValue.Arr(contents))))
        .startsWith("EXE-961")
        .contains(last.body().toString());
  }

  /** The statement about the run with one more content, or one otherwise. */
  private String foundWith(ContentClass content, Digest digest, long seq, long size) {
    List<Deletion.Item> items =
        new ArrayList<>(Deletion.read(home.document(aboutTheRun()).document()).contents());
    items.removeIf(
        item -> item.content() == content && item.seq() == seq && item.digest().equals(digest));
    items.add(new Deletion.Item(content, digest, seq, size));
    items.sort(null);
    return found(
        aboutTheRun(),
        Forgers.set(
            "contents",
            new JsonValue.Arr(items.stream().map(BothVerifiersHoldDeletionsTest::json).toList())));
  }

  private static Deletion.Item deletedOutput() {
    return Deletion.read(home.document(aboutTheRun()).document()).contents().stream()
        .filter(item -> item.content() == ContentClass.OUTPUTS)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void a_content_has_the_size_that_is_signed() {
    Deletion.Item output = deletedOutput();
    assertThat(foundWith(output.content(), output.digest(), output.seq(), output.size() + 1))
        .startsWith("EXE-961")
        .contains("/size");
  }

  /** An event names contents of one class; of the others it has none. */
  @Test
  void a_content_is_of_the_class_that_its_event_names() {
    Deletion.Item output = deletedOutput();
    for (ContentClass other :
        List.of(ContentClass.INPUTS, ContentClass.OBSERVATIONS, ContentClass.ARTIFACTS)) {
      assertThat(foundWith(other, output.digest(), output.seq(), output.size()))
          .as(other.text())
          .startsWith("EXE-961");
    }
    long finished = output.seq() - 1;
    assertThat(foundWith(ContentClass.OUTPUTS, output.digest(), finished, output.size()))
        .startsWith("EXE-961");
    assertThat(foundWith(ContentClass.OBSERVATIONS, output.digest(), finished, output.size()))
        .startsWith("EXE-961");
  }

  /** What was never kept cannot be deleted: its request asked to drop it. */
  @Test
  void output_that_was_dropped_has_no_statement() {
    Event receipt =
        home.events(TestKeys.TENANT, "run-1").stream()
            .filter(event -> event.kind().equals(EventKind.RECEIPT_SIGNED))
            .filter(event -> !Receipt.read(home.document(event.body()).document()).retained())
            .findFirst()
            .orElseThrow();
    Content output = Receipt.read(home.document(receipt.body()).document()).output().orElseThrow();
    assertThat(foundWith(ContentClass.OUTPUTS, output.digest(), receipt.seq(), output.size()))
        .startsWith("EXE-961")
        .contains("nothing that an effect ");
  }

  private static JsonValue json(Deletion.Item item) {
    return JsonValue.object()
        .put("class", item.content().text())
        .put("digest", item.digest())
        .put("seq", item.seq())
        .put("size", item.size())
        .build();
  }

  @Test
  void what_a_hold_covers_stays() {
    Digest hold =
        home.log().stream()
            .filter(event -> event.kind().equals(EventKind.HOLD_PLACED))
            .findFirst()
            .orElseThrow()
            .body();
    assertThat(
            found(
                hold,
                Forgers.set(
                    "detail",
                    new LegalHold("case 7", TestKeys.TENANT, Optional.of("run-1")).toJson())))
        .startsWith("EXE-961");
    assertThat(done.plan().needed()).isPositive();
  }
}
