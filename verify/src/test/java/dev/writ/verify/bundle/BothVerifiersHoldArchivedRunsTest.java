package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.archive.ArchiveFolder;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.archive.ArchiveReader;
import dev.writ.verify.archive.RunArchive;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
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
 * A run whose contents were moved to the archive: what is left in the ledger and its bundle hold
 * without them, and say so; and the same forged by who holds every key.
 */
class BothVerifiersHoldArchivedRunsTest {
  private static final SecondOpinion OPINION = new SecondOpinion();
  private static final String ALLOWED =
      TestPolicy.YAML
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention: { rules: [], archive_after_s: 3600 }
          """;

  @TempDir static Path dir;
  private static TestHome home;
  private static byte[] before;
  private static Digest bundle;

  @BeforeAll
  static void archive() throws Exception {
    home = TestHome.create(dir.resolve("home"), ALLOWED);
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    Sample.fill(home);
    Sample.close(home, "run-1");
    before = Sample.export(home);
    home.clock.forward(Duration.ofSeconds(3600));
    ArchiveFolder folder = new ArchiveFolder(Files.createDirectory(dir.resolve("archive")));
    folder.begin();
    RunArchive archive = new RunArchive(home.ledger(), folder, Sample.packages(home));
    TreeMap<RunId, ArchivedBundle> runs = new TreeMap<>();
    Instant now = home.kernel().now();
    runs.put(Sample.RUN, archive.store(Sample.RUN, home.kernel().system(), now));
    assertThat(
            home.kernel().contents().archive(runs, archive::earlier, now.minusMillis(1)).contents())
        .as("a moment earlier than the policy says that is in force then")
        .isZero();
    home.kernel().contents().archive(runs, archive::earlier, now);
    bundle = ArchivedRuns.bundle(home.ledger(), Sample.RUN).orElseThrow();
    try (var kept = new ArchiveReader(folder).fetch(bundle)) {
      assertThat(Files.readAllBytes(kept.file())).isEqualTo(before);
    }
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
        .findFirst()
        .orElseThrow();
  }

  private static Deletion deletion() {
    return Deletion.read(home.document(statement()).document());
  }

  @Test
  void what_was_moved_is_told_with_its_bundle_and_all_else_is_there() {
    byte[] left = Sample.export(home);
    assertThat(deletion().reason())
        .isEqualTo(new Deletion.Archived(home.policy().digest(), bundle));
    assertThat(OPINION.pinned(left).verified())
        .anyMatch(
            line -> line.contains(" contents: moved to the archive, into the bundle " + bundle));
    for (Deletion.Item item : deletion().contents()) {
      String name = "blobs/" + item.digest().hex();
      assertThat(Packed.read(before)).containsKey(name);
      assertThat(Packed.read(left)).doesNotContainKey(name);
    }
    assertThat(OPINION.pinned(before).pinned()).isTrue();
    AuditReport report = Forgers.audit(home, home.ledger());
    assertThat(report.problems()).isEmpty();
    assertThat(report.verified())
        .anyMatch(line -> line.contains("moved to the archive as policy allows, in 1 bundles"));
    assertThat(report.notVerified()).anyMatch(line -> line.contains("1 bundles of archived runs"));
    assertThat(home.fsck().problems()).isEmpty();
  }

  // Forged.

  private static String refused(byte[] bundle) {
    try {
      OPINION.verify(bundle, BundleVerifier.Options.UNPINNED);
      return "-";
    } catch (WritException e) {
      return e.code().code();
    }
  }

  private String found(UnaryOperator<JsonValue.Obj> change) {
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewrite(
        home.ledger(), new TreeMap<>(Map.of(statement(), change)), new TreeMap<>(), config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      String refused =
          refused(
              BundleExport.forged(
                  reader, Sample.RUN, Sample.packages(home), home.kernel().system().trust()));
      boolean isSound =
          Forgers.audit(home, reader).problems().stream()
              .allMatch(problem -> problem.place().startsWith("row archived ")); // not rewritten
      assertThat(isSound).isEqualTo(refused.equals("-"));
      return refused;
    }
  }

  @Test
  void a_statement_about_another_bundle_is_what_the_executor_signs_and_the_archive_refutes() {
    String other = Digest.sha256(new byte[] {1}).toString();
    assertThat(found(Forgers.set("bundle", JsonValue.of(other)))).isEqualTo("-");
  }

  @Test
  void a_run_is_not_archived_under_a_policy_of_another_digest() {
    String other = Digest.sha256(new byte[] {1}).toString();
    assertThat(found(Forgers.set("policy", JsonValue.of(other)))).isEqualTo("EXE-950");
  }

  @Test
  void a_content_that_is_in_no_statement_is_lost() {
    JsonValue.Arr contents = (JsonValue.Arr) deletion().toJson().get("contents");
    int last = contents.items().size() - 1;
    List<JsonValue> but = contents.items().subList(0, last);
    assertThat(found(Forgers.set("contents", new JsonValue.Arr(but)))).startsWith("RPL-");
  }

  @Test
  void a_time_that_is_not_the_events_is_refused() {
    String early = Timestamps.format(deletion().deletedAt().minusMillis(1));
    assertThat(found(Forgers.set("deleted_at", JsonValue.of(early)))).isEqualTo("EXE-953");
  }
}
