package dev.writ.replay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestRequest;
import dev.writ.fixture.TestWorkspaces;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.bundle.Sample;
import dev.writ.verify.bundle.Workshop;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * protocol rule 20 in a replay: how the tree stood is taken from the receipts, and what follows
 * from that is done again.
 */
class AWorkspaceReplaysTest {
  @TempDir Path dir;
  private TestHome home;

  @BeforeEach
  void open() {
    home = Workshop.home(dir);
  }

  @AfterEach
  void close() {
    home.close();
  }

  private RecordedRun recording() {
    return Sample.recording(home, Sample.RUN);
  }

  @Test
  void pins_doubts_and_refusals_come_to_the_same_bytes() {
    Workshop.fill(home);
    Sample.close(home, "run-1");
    ReplayResult result = Replayed.completely(home, Sample.RUN);
    assertThat(result.reexecuted())
        .contains(
            "7 effects: through all eight stages, on the recorded outcome of the tool",
            "2 refusals: by the same stage with the same code",
            "1 receipts in doubt: made by recovery",
            "1 resolutions: taken as the kernel takes them",
            "1 closings: events, receipts and run hash counted again");
    // Without the outputs the receipts are made again, digests of trees and all.
    Replayed.completely(home, Sample.recording(home, Sample.RUN, false, true));
    Replayed.completely(home, Sample.recording(home, Sample.RUN, false, false));
  }

  @ParameterizedTest
  @CsvSource({"true,true", "false,true", "false,false"})
  void a_tree_that_could_not_be_measured(boolean blobs, boolean tools) {
    home.submit(Workshop.ask(home, "desk"));
    Workshop.unmeasured(home, new WritException(LedgerError.DISK_FULL, "x".repeat(900)));
    Sample.close(home, "run-1");
    Replayed.completely(home, Sample.recording(home, Sample.RUN, blobs, tools));
  }

  @Test
  void what_could_not_be_measured_before_was_refused_as_recorded() {
    home.workspaces.fails(new IllegalStateException("a bug"));
    assertThat(Refused.code(() -> home.submit(Workshop.ask(home, "desk")))).isEqualTo("EXE-308");
    home.workspaces.fails(new WritException(LedgerError.DISK_FULL, "for a test"));
    assertThat(Refused.code(() -> home.submit(Workshop.ask(home, "desk")))).isEqualTo("LED-005");
    home.workspaces.fails(null);
    home.restartWithWorkspaces(false);
    assertThat(Refused.code(() -> home.submit(Workshop.ask(home, "desk")))).isEqualTo("EXE-309");
    Replayed.completely(home, Sample.RUN);
  }

  @Test
  void an_effect_that_still_runs_when_the_bundle_is_taken() {
    List<RecordedRun> during = new ArrayList<>();
    home.driver.does(
        "lathe",
        invocation -> {
          during.add(recording());
          return Workshop.ends(invocation);
        });
    home.submit(Workshop.ask(home, "lathe").pins(RunWorkspaces.EMPTY));
    home.driver.does(
        "desk",
        invocation -> {
          during.add(recording());
          return Workshop.ends(invocation);
        });
    home.submit(Workshop.ask(home, "desk"));
    for (RecordedRun open : during) {
      assertThat(Replayed.completely(home, open).neither())
          .contains("1 effects: dispatched and not finished when the bundle was taken");
    }
  }

  @Test
  void no_tool_runs_again_in_a_workspace_that_is_not_there() {
    Workshop.fill(home);
    int ran = home.driver.runs().size();
    ReplayResult result =
        new Replay(recording(), ReplayOptions.recorded(List.copyOf(home.drivers)).withLive()).run();
    assertThat(result.state()).isEqualTo(ReplayResult.State.COMPLETE);
    assertThat(result.neither())
        .contains("1 effects: their tool uses the run's workspace, which is not in the bundle");
    assertThat(home.driver.runs()).hasSize(ran);
  }

  /**
   * Three agents' threads in two runs, with pins that hold by luck, doubts, resolutions and starts
   * in between: whatever comes of it replays, and both the audit and the verifier find it sound.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void any_schedule(long first) throws Exception {
    long seed = Long.getLong("writ.seed", first);
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    for (int round = 0; round < 4; round++) {
      try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
        for (int i = 0; i < 8; i++) {
          TestRequest request = any(random, round * 8 + i);
          threads.submit(() -> home.submit(request));
        }
      }
      Workshop.fails(home, random.nextInt(2) == 0 ? "run-1" : "run-2");
      for (String row : home.rows(Tables.DOUBT)) {
        Served doubt = home.kernel().receipt("acme", Digest.parse("sha256:" + row));
        if (doubt.resolution().isEmpty() && random.nextInt(3) > 0) {
          home.kernel().resolve(home.resolution(doubt, Resolution.Found.HAPPENED));
        }
      }
    }
    assertThat(
            Audit.check(home.ledger(), new Tools(home.tools, home.drivers), (_, _) -> {})
                .problems())
        .isEmpty();
    for (String run : List.of("run-1", "run-2")) {
      Replayed.completely(home, new RunId("acme", run));
    }
  }

  private TestRequest any(Random random, int n) {
    TestRequest request =
        Workshop.ask(home, List.of("desk", "desk", "lathe", "mail").get(random.nextInt(4)))
            .run("run-" + (1 + random.nextInt(2)))
            .params("{\"n\":" + n + "}");
    boolean pins = random.nextInt(3) == 0;
    return pins ? request.pins(TestWorkspaces.digest("a".repeat(random.nextInt(4)))) : request;
  }

  // Forged.

  private static List<Event> events(RecordedRun recording) {
    List<Event> events = new ArrayList<>();
    recording.events((journal, _, event) -> {
      if (journal == RecordedRun.Journal.RUN) {
        events.add(event);
      }
    });
    return events;
  }

  private static Event receipt(RecordedRun recording, Predicate<Receipt> which) {
    return events(recording).stream()
        .filter(e -> e.kind().equals(EventKind.RECEIPT_SIGNED))
        .filter(
            e -> which.test(Receipt.read(recording.document(e.body()).orElseThrow().document())))
        .findFirst()
        .orElseThrow();
  }

  private static Event refusal(RecordedRun recording, String code) {
    return events(recording).stream()
        .filter(e -> e.kind().equals(EventKind.EFFECT_REFUSED))
        .filter(e ->
            Refusal.read(recording.document(e.body()).orElseThrow().document()).code().equals(code))
        .findFirst()
        .orElseThrow();
  }

  private static Event dispatch(RecordedRun recording, Event receipt) {
    Digest intent =
        Receipt.read(recording.document(receipt.body()).orElseThrow().document()).intent();
    return events(recording).stream()
        .filter(e -> e.kind().equals(EventKind.EFFECT_DISPATCHED) && e.body().equals(intent))
        .findFirst()
        .orElseThrow();
  }

  private static UnaryOperator<JsonValue.Obj> without(String member) {
    return document -> {
      TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
      members.remove(member);
      return new JsonValue.Obj(members);
    };
  }

  private static UnaryOperator<JsonValue.Obj> with(String member, String value) {
    return document -> Forged.with(document, member, JsonValue.of(value));
  }

  private Divergence diverges(RecordedRun forged, long seq) {
    ReplayResult result = Replayed.of(home, forged);
    assertThat(result.failure()).isEmpty();
    assertThat(result.state()).isEqualTo(ReplayResult.State.DIVERGED);
    Divergence first = result.divergences().getFirst();
    assertThat(first.seq()).as(first.headline()).isEqualTo(seq);
    return first;
  }

  private static boolean pinned(Receipt receipt) {
    return receipt.tool().name().equals("lathe");
  }

  private static boolean unpinned(Receipt receipt) {
    return receipt.tool().name().equals("desk") && receipt.lamport() == 1;
  }

  @Test
  void a_tree_before_that_is_not_the_pinned_one() {
    Workshop.fill(home);
    RecordedRun honest = recording();
    Event receipt = receipt(honest, AWorkspaceReplaysTest::pinned);
    String other = TestWorkspaces.digest("other").toString();
    Forged forged = Forged.document(honest, receipt.seq(), with("workspace_before", other));
    Divergence divergence = diverges(forged, dispatch(honest, receipt).seq());
    assertThat(divergence.kind()).isEqualTo(Divergence.Kind.MISMATCH);
    assertThat(divergence.headline()).contains("effect.refused");
  }

  @ParameterizedTest
  @CsvSource({"workspace_before", "workspace_after"})
  void a_receipt_that_leaves_a_tree_out(String member) {
    Workshop.fill(home);
    RecordedRun honest = recording();
    Event receipt = receipt(honest, AWorkspaceReplaysTest::unpinned);
    diverges(Forged.document(honest, receipt.seq(), without(member)), receipt.seq());
  }

  @ParameterizedTest
  @CsvSource({"workspace_before", "workspace_after"})
  void a_receipt_of_a_tool_without_workspace_that_names_a_tree(String member) {
    Workshop.fill(home);
    RecordedRun honest = recording();
    Event receipt = receipt(honest, r -> r.tool().name().equals("mail"));
    String tree = RunWorkspaces.EMPTY.toString();
    Divergence divergence =
        diverges(Forged.document(honest, receipt.seq(), with(member, tree)), receipt.seq());
    assertThat(divergence.headline()).contains("/body/" + member);
  }

  @Test
  void a_refusal_for_a_pin_that_held() {
    Workshop.fill(home);
    RecordedRun honest = recording();
    Event refused = refusal(honest, "EXE-310");
    JsonValue empty = JsonValue.object().put("workspace", RunWorkspaces.EMPTY.toString()).build();
    diverges(
        Forged.document(honest, refused.seq(), d -> Forged.with(d, "observed", empty)),
        refused.seq());
    diverges(
        Forged.document(
            honest,
            refused.seq(),
            d -> Forged.with(without("observed").apply(d), "found", JsonValue.of("no digest"))),
        refused.seq());
    diverges(Forged.document(honest, refused.seq(), with("code", "EXE-311")), refused.seq());
  }

  /**
   * A later version may word it otherwise; the refusals of an earlier one are read by their text.
   */
  @Test
  void a_refusal_in_other_words_or_without_what_was_observed() {
    Workshop.fill(home);
    RecordedRun honest = recording();
    Event refused = refusal(honest, "EXE-310");
    Replayed.completely(
        home, Forged.document(honest, refused.seq(), with("found", "the tree is another one")));
    Replayed.completely(home, Forged.document(honest, refused.seq(), without("observed")));
  }

  @Test
  void a_refusal_that_hides_a_quarantine_or_invents_one() {
    Workshop.fill(home);
    RecordedRun honest = recording();
    Event refused = refusal(honest, "EXE-311");
    diverges(Forged.document(honest, refused.seq(), with("code", "EXE-308")), refused.seq());
  }

  @Test
  void an_effect_that_went_into_a_workspace_in_quarantine() {
    Workshop.fill(home);
    RecordedRun honest = recording();
    Event resolved =
        events(honest).stream()
            .filter(e -> e.kind().equals(EventKind.DOUBT_RESOLVED))
            .findFirst()
            .orElseThrow();
    Event next =
        events(honest).stream()
            .filter(e -> e.kind().equals(EventKind.EFFECT_DISPATCHED) && e.seq() > resolved.seq())
            .findFirst()
            .orElseThrow();
    Forged forged = Forged.event(honest, resolved.seq(), _ -> List.of());
    Divergence divergence = diverges(forged, next.seq() - 1);
    assertThat(divergence.headline()).contains("effect.refused");
  }

  /** The second goes in while the first is inside. */
  @Test
  void two_effects_at_once() {
    var first = home.decide(Workshop.ask(home, "desk").params("{\"n\":4}").sign());
    var other = home.decide(Workshop.ask(home, "desk").params("{\"n\":5}").sign());
    home.execute(first, "alice");
    home.execute(other, "alice");
    RecordedRun whole = recording();
    List<Event> dispatches =
        events(whole).stream().filter(e -> e.kind().equals(EventKind.EFFECT_DISPATCHED)).toList();
    Event one = dispatches.get(0);
    Event two = dispatches.get(1);
    assertThat(two.seq()).isEqualTo(one.seq() + 3);
    Forged forged = Forged.event(whole, one.seq(), event -> List.of(event, two));
    Divergence divergence = diverges(forged, one.seq() + 1);
    assertThat(divergence.headline()).contains("effect.refused");
  }
}
