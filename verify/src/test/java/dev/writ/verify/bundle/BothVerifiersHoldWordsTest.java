package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Verdict;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.Forgers;
import dev.writ.verify.testing.Sound;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * By whose word an effect was allowed, and on what it builds: the two verifiers, on what a kernel
 * writes and on what a forger makes of it who holds every key.
 */
class BothVerifiersHoldWordsTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @TempDir Path dir;
  private TestHome home;

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  @BeforeEach
  void open() {
    home = Sample.home(dir.resolve("home"));
    home.clock.stepping(Duration.ofMillis(3));
  }

  @AfterEach
  void close() {
    home.close();
  }

  private String forged(
      String what,
      Map<Digest, UnaryOperator<JsonValue.Obj>> documents,
      Map<Event, UnaryOperator<Event>> events,
      BundleExport.Options options) {
    LedgerConfig config = Forgers.place(home, dir);
    Forgers.rewriteAll(home.ledger(), documents, events, config);
    try (LedgerView reader = Ledger.openReadOnly(config.dir())) {
      return OPINION.ofBoth(
          what, BundleExport.of(reader, Sample.RUN, Sample.packages(home), options));
    }
  }

  private String forged(String what, Map<Digest, UnaryOperator<JsonValue.Obj>> documents) {
    return forged(what, documents, Map.of(), BundleExport.Options.WHOLE);
  }

  private static UnaryOperator<JsonValue.Obj> with(String member, JsonValue value) {
    return document -> {
      TreeMap<String, JsonValue> members = new TreeMap<>(document.members());
      members.put(member, value);
      return new JsonValue.Obj(members);
    };
  }

  private List<Event> of(String kind) {
    return home.log().stream().filter(event -> event.kind().equals(kind)).toList();
  }

  private String export() {
    home.kernel().checkpoint();
    return OPINION.ofBoth("as the kernel wrote it", Sample.export(home));
  }

  /** A key of rita's beside her other one, whose id comes first. */
  private SigningKey second() {
    String first = TestKeys.key("rita").kid();
    return IntStream.range(0, 100)
        .mapToObj(i ->
            SigningKey.mlDsa65(
                Digest.sha256(("second key " + i).getBytes(StandardCharsets.UTF_8)).bytes()))
        .filter(key -> key.kid().compareTo(first) < 0)
        .findFirst()
        .orElseThrow();
  }

  @Test
  void an_approval_with_two_signatures_is_of_the_key_that_names_its_holder() {
    SigningKey second = second();
    TrustedKey first = TestKeys.trusted("rita", KeyRole.APPROVER, Optional.of(TestKeys.TENANT));
    home.enrol(
        new TrustedKey(
            second.verifyingKey(),
            first.role(),
            first.tenant(),
            first.subject(),
            first.notBefore(),
            first.notAfter(),
            Optional.empty()));
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    Envelope word = home.approval(pay, "rita", Approval.Verdict.APPROVE);
    home.kernel()
        .approve(Envelope.sign(Approval.TYPE, word.document(), TestKeys.key("rita"), second));
    home.submit(pay);
    assertThat(export()).isEqualTo("-");
    Sound.require(home);
  }

  /** One approves, a key is revoked, and ten minutes later another one approves. */
  private void twice(String revoked) {
    Envelope pay = home.ask("alice").tool("pay").operation("twice").sign();
    home.submit(pay);
    home.approve(pay, "rita");
    home.revoke(revoked);
    home.clock.forward(Duration.ofMinutes(10));
    home.approve(pay, "roy");
    home.submit(pay);
    assertThat(export()).isEqualTo("-");
  }

  private String revoked(String name) {
    return forged(
        name + " was revoked",
        Map.of(
            of(EventKind.KEY_REVOKED).getFirst().body(),
            with("detail", JsonValue.object().put("kid", TestKeys.key(name).kid()).build())));
  }

  @Test
  void a_judgement_counts_no_word_of_a_key_that_was_revoked_by_then() {
    twice("nobody");
    assertThat(revoked("bob")).isEqualTo("-");
    assertThat(revoked("rita")).isEqualTo("EXE-956");
    assertThat(revoked("alice")).isEqualTo("EXE-956");
  }

  @Test
  void a_judgement_counts_no_word_of_a_key_whose_window_was_over_by_then() {
    twice("nobody");
    Instant over = home.clock.instant().minus(Duration.ofMinutes(5));
    for (String name : List.of("rita", "alice", "bob")) {
      Digest enrolled =
          of(EventKind.KEY_ENROLLED).stream()
              .map(Event::body)
              .filter(
                  id -> home.document(id).document().toString().contains(TestKeys.key(name).kid()))
              .findFirst()
              .orElseThrow();
      String said =
          forged(
              name + "'s window was over",
              Map.of(
                  enrolled,
                  document ->
                      with(
                              "detail",
                              with("writ_not_after", JsonValue.of(over.toString()))
                                  .apply((JsonValue.Obj) document.get("detail")))
                          .apply(document)));
      // A request counts where it was let in when it was received.
      assertThat(said).as(name).isEqualTo(name.equals("rita") ? "EXE-956" : "-");
    }
  }

  /** Judged, then revoked, then executed: kernels up to November 2026 did that. */
  @Test
  void an_execution_behind_a_revocation_of_who_allowed_it_is_told() {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    Answer decided = home.approve(pay, "rita");
    home.clock.forward(Duration.ofSeconds(30));
    home.revoke("nobody");
    home.clock.forward(Duration.ofSeconds(30));
    Envelope other = home.ask("bob").run("run-2").sign();
    home.submit(other);
    home.clock.forward(Duration.ofSeconds(31));
    home.submit(pay);
    assertThat(decided.decision().verdict()).isEqualTo(Verdict.ALLOW);
    assertThat(export()).isEqualTo("-");
    assertThat(OPINION.last()).noneMatch(line -> line.contains("up to November 2026"));
    assertThat(revoked("rita")).isEqualTo("-");
    assertThat(OPINION.last()).anyMatch(line -> line.contains("1 dispatches: after the key of"));
  }

  /** The same within a minute, and an artifact whose key was revoked just then. */
  @Test
  void what_was_in_flight_at_a_revocation_is_counted_alike() {
    Envelope proof =
        Envelope.sign(
            "application/json", JsonValue.object().put("ok", true).build(), TestKeys.key("ci"));
    Envelope pay = home.ask("alice").tool("pay").evidence(List.of(proof.id())).sign();
    home.kernel().submit(pay, List.of(proof));
    home.revoke("nobody");
    home.approve(pay, "rita");
    home.submit(pay);
    assertThat(export()).isEqualTo("-");
    for (String name : List.of("ci", "rita")) {
      assertThat(revoked(name)).as(name).isEqualTo("-");
    }
  }

  @Test
  void a_refusal_is_of_who_asked() {
    Envelope asked = home.ask("alice").sign();
    Answer decided = home.decide(asked);
    home.clock.forward(Duration.ofMinutes(6));
    assertThat(Refused.code(() -> home.execute(decided, "alice"))).isEqualTo("EXE-107");
    home.submit(asked);
    assertThat(export()).isEqualTo("-");
    Digest refusal = of(EventKind.EFFECT_REFUSED).getFirst().body();
    assertThat(
            forged(
                "a refusal of somebody else",
                Map.of(refusal, with("subject", JsonValue.of("bob")))))
        .isEqualTo("EXE-953");
  }

  @Test
  void an_approval_is_of_the_effect_that_was_asked_for() {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    home.approve(pay, "rita");
    assertThat(export()).isEqualTo("-");
    Digest word = of(EventKind.APPROVAL_RECEIVED).getFirst().body();
    JsonValue other = JsonValue.of(Digest.sha256(new byte[0]).toString());
    assertThat(forged("an approval of another effect", Map.of(word, with("effect", other))))
        .isEqualTo("EXE-953");
    assertThat(
            forged(
                "an approval by somebody else",
                Map.of(word, with("approver", JsonValue.of("roy")))))
        .isEqualTo("EXE-953");
  }

  @Test
  void what_is_consumed_of_the_same_run_is_in_it_before() {
    home.submit(home.ask("alice"));
    Digest other = home.submit(home.ask("alice").run("run-2")).served().orElseThrow().id();
    home.submit(home.ask("alice").consumes(other));
    assertThat(export()).isEqualTo("-");
    assertThat(
            forged(
                "a receipt that says to be of this run",
                Map.of(other, with("run", JsonValue.of("run-1")))))
        .isEqualTo("EXE-954");
  }

  @Test
  void a_content_has_one_size_also_where_it_is_left_out() {
    home.submit(home.ask("alice").operation("text"));
    home.submit(home.ask("alice").operation("text"));
    assertThat(export()).isEqualTo("-");
    Digest last = of(EventKind.RECEIPT_SIGNED).getLast().body();
    Receipt receipt = Receipt.read(home.document(last).document());
    JsonValue.Obj output =
        (JsonValue.Obj) ((JsonValue.Obj) home.document(last).document()).get("output");
    assertThat(
            forged(
                "another size of the same content",
                Map.of(
                    last,
                    with(
                        "output",
                        with("size", JsonValue.of(receipt.output().orElseThrow().size() + 1))
                            .apply(output))),
                Map.of(),
                new BundleExport.Options(false, true, Optional.empty())))
        .isEqualTo("EXE-953");
  }

  /** Of what was dropped there is only what a receipt says, so all of it can have one place. */
  @Test
  void digests_that_were_made_up_are_counted_like_others() {
    home.submit(home.ask("alice").operation("text").dropOutput());
    assertThat(export()).isEqualTo("-");
    List<JsonValue> artifacts =
        IntStream.range(0, 300)
            .<JsonValue>mapToObj(i ->
                JsonValue.object()
                    .put(
                        "content",
                        JsonValue.object()
                            .put("digest", "sha256:" + "0".repeat(61) + (100 + i))
                            .put("media_type", "text/plain")
                            .put("size", 1)
                            .build())
                    .put("name", "a" + i)
                    .build())
            .toList();
    assertThat(
            forged(
                "artifacts that were made up",
                Map.of(
                    of(EventKind.RECEIPT_SIGNED).getLast().body(),
                    with("artifacts", new JsonValue.Arr(artifacts)))))
        .isEqualTo("-");
  }

  @Test
  void an_effect_ends_after_it_began() {
    home.submit(home.ask("alice"));
    assertThat(export()).isEqualTo("-");
    Event signed = of(EventKind.RECEIPT_SIGNED).getLast();
    Event finished = of(EventKind.EFFECT_FINISHED).getLast();
    Instant before = of(EventKind.EFFECT_DISPATCHED).getLast().at().minusMillis(1);
    assertThat(
            forged(
                "it ended before it began",
                Map.of(signed.body(), with("finished_at", JsonValue.of(before.toString()))),
                Map.of(signed, e -> at(e, before), finished, e -> at(e, before)),
                BundleExport.Options.WHOLE))
        .isEqualTo("EXE-953");
  }

  private static Event at(Event e, Instant at) {
    return new Event(e.tenant(), e.run(), e.seq(), e.kind(), e.prev(), e.body(), at, e.prngSeed());
  }

  /** It was dispatched while the clock was ahead, and is found when that was corrected. */
  @Test
  void an_effect_in_doubt_over_a_correction_of_the_clock_is_one_that_both_take() {
    home.submit(home.ask("alice"));
    home.clock.leap(Duration.ofDays(20));
    home.restart();
    home.driver.does(
        "mail",
        _ -> {
          home.crash();
          throw new IllegalStateException("the machine is gone");
        });
    home.submit(home.ask("alice").tool("mail"));
    home.clock.leap(Duration.ofDays(-20));
    assertThat(Refused.code(home::startAgainIfCrashed)).isEqualTo("EXE-904");
    home.correctClock();
    assertThat(export()).isEqualTo("-");
    Sound.require(home);
  }
}
