package dev.writ.executor.retention;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Behaviours;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.event.RunId;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What archiving removes from the ledger, by what the bundles are said to have, and what an order
 * of erasure says of it afterwards (spec/retention.md, Archive). Bundles themselves are verify's.
 */
class OnlyWhatABundleHasLeavesTheLedgerTest {
  private static final long AFTER_S = 60;

  /** When uploads need no keeping any more, either. */
  private static final long LATER_S = 2 * AFTER_S;

  private static final String POLICY =
      TestPolicy.SHARED
          + """
          storage: { bytes_max: 100000, unnamed_s: 60 }
          retention: { rules: [], archive_after_s: 60 }
          """;

  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void start() {
    home = TestHome.create(dir.resolve("home"), POLICY);
  }

  @AfterEach
  void stop() {
    home.close();
  }

  private static RunId run(String name) {
    return new RunId(TestKeys.TENANT, name);
  }

  private Content upload(String text) {
    return home.kernel()
        .contents()
        .put(
            TestKeys.TENANT,
            "",
            new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)),
            "text/plain");
  }

  /** An effect that gives a text, in a run of its own; the input's too where there is one. */
  private Receipt mail(String agent, int n, String gives, Optional<Content> input) {
    home.driver.does(
        "mail",
        Behaviours.gives("{\"ok\":true,\"params\":{\"is\":\"" + gives + "\"}}", Behaviours.JSON));
    var ask = home.ask(agent).tool("mail").run(agent + "-" + n).params("{\"n\":" + n + "}");
    input.ifPresent(content -> ask.input("f", content.digest(), content.size()));
    return home.submit(ask).served().orElseThrow().receipt();
  }

  private void close(String agent, int n) {
    home.kernel().closeRun(home.close(TestKeys.TENANT, agent + "-" + n, agent));
  }

  private static Digest output(Receipt receipt) {
    return receipt.output().orElseThrow().digest();
  }

  private static Digest bundle(String run) {
    return Digest.sha256(run.getBytes(StandardCharsets.UTF_8));
  }

  private static ArchivedBundle bundle(String run, List<Digest> contents) {
    DigestSet set = new DigestSet();
    contents.forEach(set::add);
    return new ArchivedBundle(bundle(run), set);
  }

  private ContentRetention.Deleted archive(String name, List<Digest> contents) {
    TreeMap<RunId, ArchivedBundle> bundles = new TreeMap<>();
    bundles.put(run(name), bundle(name, contents));
    return home.kernel()
        .contents()
        .archive(bundles, other -> bundle(other.run(), List.of()), home.kernel().now());
  }

  private List<Deletion> statements() {
    return home.events(Deletion.RUN.tenant(), Deletion.RUN.run()).stream()
        .map(event -> Deletion.read(home.document(event.body()).document()))
        .toList();
  }

  private Digest order(ErasureOrder order) {
    Envelope signed = home.change(EventKind.CONTENTS_ERASED, order.toJson());
    home.kernel().change(signed);
    return signed.id();
  }

  private static ErasureOrder subject(String name) {
    return new ErasureOrder(TestKeys.TENANT, Optional.of(name), Optional.empty());
  }

  @Test
  void whatItHasNotStays_andSoDoesWhatAnOpenRunUses() {
    Content input = upload("an input");
    Receipt first = mail("alice", 1, "of one run", Optional.of(input));
    Receipt shared = mail("alice", 2, "of two runs", Optional.empty());
    assertThat(output(mail("bob", 1, "of two runs", Optional.empty()))).isEqualTo(output(shared));
    close("alice", 1);
    close("alice", 2);
    home.clock.forward(Duration.ofSeconds(LATER_S));
    assertThat(archive("alice-1", List.of(input.digest())).contents()).isEqualTo(1);
    assertThat(home.ledger().hasBlob(input.digest())).isFalse();
    assertThat(home.ledger().hasBlob(output(first))).as("its bundle lacks it").isTrue();
    assertThat(archive("alice-2", List.of(output(shared))).contents()).isZero();
    assertThat(home.ledger().hasBlob(output(shared))).as("bob's run is open").isTrue();
    assertThat(ArchivedRuns.bundle(home.ledger(), run("alice-1"))).contains(bundle("alice-1"));
    assertThat(ArchivedRuns.bundle(home.ledger(), run("alice-2"))).isEmpty();
    close("bob", 1);
    home.clock.forward(Duration.ofSeconds(LATER_S));
    TreeMap<RunId, ArchivedBundle> both = new TreeMap<>();
    both.put(run("alice-2"), bundle("alice-2", List.of(output(shared))));
    both.put(run("bob-1"), bundle("bob-1", List.of(output(shared))));
    assertThat(
            home.kernel()
                .contents()
                .archive(both, _ -> bundle("", List.of()), home.kernel().now())
                .contents())
        .isEqualTo(1);
    assertThat(home.ledger().hasBlob(output(shared))).isFalse();
    assertThat(ArchivedRuns.all(home.ledger()).keySet())
        .containsExactly(run("alice-1"), run("alice-2"), run("bob-1"));
    assertThat(home.fsck().problems()).isEmpty();
  }

  @Test
  void nothingGoesTooEarly_orUnderAHold_orUnderAnotherPolicy() {
    Receipt made = mail("alice", 1, "a text", Optional.empty());
    List<Digest> all = List.of(output(made));
    assertThat(archive("alice-1", all).contents()).as("it is open").isZero();
    close("alice", 1);
    home.clock.forward(Duration.ofSeconds(AFTER_S - 1));
    assertThat(archive("alice-1", all).contents()).as("a second early").isZero();
    home.clock.forward(Duration.ofSeconds(1));
    home.kernel()
        .change(
            home.change(
                EventKind.HOLD_PLACED,
                new LegalHold("case", TestKeys.TENANT, Optional.of("alice-1")).toJson()));
    assertThat(archive("alice-1", all).contents()).as("it is held").isZero();
    home.activate(TestPolicy.YAML);
    assertThat(Refused.code(() -> archive("alice-1", all))).isEqualTo("EXE-940");
    assertThat(home.ledger().hasBlob(output(made))).isTrue();
    assertThat(statements()).isEmpty();
  }

  @Test
  void anOrderSaysWhichBundlesHaveWhatItCovers_andWhatIsNotReadThereAnyMore() {
    Content input = upload("what alice sent");
    Receipt alices = mail("alice", 1, "what alice got", Optional.of(input));
    Receipt bobs = mail("bob", 1, "what bob got", Optional.empty());
    close("alice", 1);
    close("bob", 1);
    home.clock.forward(Duration.ofSeconds(LATER_S));
    archive(
        "alice-1", List.of(input.digest(), output(alices), alices.observations().orElseThrow()));
    archive("bob-1", List.of(output(bobs)));
    assertThat(statements()).hasSize(2);
    assertThat(covered(subject("alice"))).containsExactly(run("alice-1"));
    assertThat(covered(subject("carol"))).isEmpty();
    assertThat(covered(new ErasureOrder(TestKeys.TENANT, Optional.empty(), Optional.of("bob-1"))))
        .containsExactly(run("bob-1"));
    assertThat(covered(new ErasureOrder("other", Optional.of("alice"), Optional.empty())))
        .isEmpty();
    assertThat(erasedBy("alice-1")).isEmpty();
    assertThat(ArchivedRuns.erasedBy(home.ledger(), run("alice-1"))).isEmpty();
    Digest first = order(subject("alice"));
    home.clock.forward(Duration.ofSeconds(1));
    Digest second = order(subject("alice"));
    assertThat(ArchivedRuns.erasedBy(home.ledger(), run("alice-1"))).containsExactly(first, second);
    assertThat(ArchivedRuns.erasedBy(home.ledger(), run("bob-1"))).isEmpty();
    assertThat(erasedBy("alice-1")).as("each by the first order").containsOnly(first).hasSize(3);
    assertThat(erasedBy("bob-1")).isEmpty();
  }

  private Iterable<RunId> covered(ErasureOrder order) {
    return ArchivedRuns.coveredBy(home.ledger(), order).keySet();
  }

  /** The orders that cover what statements say is in a run's bundle. */
  private List<Digest> erasedBy(String name) {
    return statements().stream()
        .filter(statement -> statement.of().equals(run(name)))
        .flatMap(statement -> statement.contents().stream())
        .flatMap(item -> ArchivedRuns.erasedBy(home.ledger(), run(name), item).stream())
        .toList();
  }
}
