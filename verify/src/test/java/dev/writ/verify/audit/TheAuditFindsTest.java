package dev.writ.verify.audit;

import static dev.writ.verify.audit.Rewrite.with;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.KernelSeam;
import dev.writ.executor.SafeExecutor;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.guardian.AccountSummary;
import dev.writ.guardian.document.Approval;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.verify.audit.AuditReport.Problem;
import dev.writ.verify.error.AuditError;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Each test lets a forger with every key change one thing, so that all digests, chains and rows
 * agree with it and {@code fsck} finds nothing; the audit finds that thing, with its code, at its
 * place.
 */
class TheAuditFindsTest {
  @TempDir Path dir;
  private TestHome home;
  private Answer first;
  private Answer second;
  private int forgeries;

  @BeforeEach
  void twoEffects() {
    home = TestHome.create(dir.resolve("home"), AHealthyLedgerHasNoProblemsTest.YAML);
    home.clock.stepping(Duration.ofMillis(5));
    first = home.submit(home.ask("alice").key("k1"));
    second = home.submit(home.ask("alice").tool("mail").key("k2"));
  }

  @AfterEach
  void close() {
    home.close();
  }

  private static Digest receipt(Answer answer) {
    return answer.served().orElseThrow().id();
  }

  /** The event whose body that is. */
  private Event event(String kind, Digest body) {
    return home.log().stream()
        .filter(e -> e.kind().equals(kind) && e.body().equals(body))
        .findFirst()
        .orElseThrow();
  }

  private Rewrite rewrite() {
    return new Rewrite(home.ledger());
  }

  private AuditReport audit(Path at) {
    try (LedgerView reader = Ledger.openReadOnly(at)) {
      return Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
    }
  }

  private AuditReport forged(Rewrite rewrite) {
    return forged(rewrite, "forged");
  }

  /** The same, where a test forges more than once. */
  private AuditReport forgedAnew(Rewrite rewrite) {
    return forged(rewrite, "forged" + forgeries++);
  }

  private AuditReport forged(Rewrite rewrite, String name) {
    LedgerConfig config =
        new LedgerConfig(
            dir.resolve(name),
            dir.resolve(name + ".anchor"),
            TestHome.ORIGIN,
            TestKeys.key("log"),
            home.clock);
    rewrite.write(config);
    assertThat(Fsck.check(Fsck.Options.of(config.dir())).problems())
        .as("what fsck finds")
        .isEmpty();
    return audit(config.dir());
  }

  private void only(AuditReport report, AuditError code, String place) {
    assertThat(report.problems())
        .extracting(Problem::code, Problem::place)
        .containsExactly(org.assertj.core.groups.Tuple.tuple(code, place));
    assertThat(report.isSound()).isFalse();
  }

  private static String place(Event event) {
    return "event " + event.runId() + " " + event.seq() + " " + event.kind();
  }

  private static UnaryOperator<JsonValue.Obj> member(String member, JsonValue value) {
    return document -> with(document, member, value);
  }

  /** Changes a member deep inside: names and numbers of list items, separated by slashes. */
  private static UnaryOperator<JsonValue.Obj> deep(String path, JsonValue value) {
    return document -> (JsonValue.Obj) set(document, path.split("/"), 0, value);
  }

  private static JsonValue set(JsonValue in, String[] path, int at, JsonValue value) {
    if (at == path.length) {
      return value;
    }
    if (in instanceof JsonValue.Arr list) {
      List<JsonValue> items = new ArrayList<>(list.items());
      int i = Integer.parseInt(path[at]);
      items.set(i, set(items.get(i), path, at + 1, value));
      return JsonValue.of(items);
    }
    JsonValue.Obj object = (JsonValue.Obj) in;
    return with(object, path[at], set(object.get(path[at]), path, at + 1, value));
  }

  @Test
  void nothingWhereNothingWasChanged() {
    assertThat(forged(rewrite()).problems()).isEmpty();
  }

  // Signatures and documents.

  @Test
  void aDecisionThatAnotherKeySigned() {
    Digest decision = second.decisionEnvelope().id();
    only(
        forged(rewrite().signer(decision, "executor")),
        AuditError.SIGNATURE,
        place(event("decision.made", decision)));
  }

  @Test
  void aRequestThatAKeyOfAnotherSigned() {
    AuditReport report = forged(rewrite().signer(second.request(), "guardian"));
    assertThat(report.problems()).extracting(Problem::code).contains(AuditError.SIGNATURE);
    assertThat(report.problems().getFirst().place())
        .isEqualTo(place(event("request.received", second.request())));
  }

  @Test
  void whatARevokedKeySignedAfterwardsAndNotWhatItSignedBefore() {
    home.enrol(TestKeys.trusted("executor-2", KeyRole.EXECUTOR, Optional.empty()));
    Answer before = home.submit(home.ask("alice"));
    home.revoke("executor-2");
    Answer inFlight = home.submit(home.ask("alice"));
    home.clock.forward(Duration.ofMinutes(2));
    Answer after = home.submit(home.ask("alice"));
    AuditReport report =
        forged(
            rewrite()
                .signer(receipt(before), "executor-2")
                .signer(receipt(inFlight), "executor-2")
                .signer(receipt(after), "executor-2"));
    only(report, AuditError.SIGNATURE, place(event("receipt.signed", receipt(after))));
    assertThat(report.problems().getFirst().recorded()).contains("CAN-055");
    assertThat(report.notVerified())
        .anyMatch(line -> line.startsWith("1 documents: reached the log after a revocation"));
  }

  @Test
  void anEventThatNamesADocumentOfAnotherKind() {
    Event made = event("receipt.signed", receipt(second));
    AuditReport report =
        forged(
            rewrite()
                .event(
                    made,
                    e ->
                        new Event(
                            e.tenant(),
                            e.run(),
                            e.seq(),
                            e.kind(),
                            e.prev(),
                            second.request(),
                            e.at(),
                            e.prngSeed())));
    assertThat(report.problems().getFirst().code()).isEqualTo(AuditError.DOCUMENT);
    assertThat(report.problems().getFirst().place()).isEqualTo(place(made));
  }

  @Test
  void aReceiptOfAnotherRun() {
    Digest receipt = receipt(second);
    AuditReport report = forged(rewrite().document(receipt, member("run", JsonValue.of("run-9"))));
    assertThat(report.problems().getFirst())
        .extracting(Problem::code, Problem::place, Problem::recorded, Problem::recomputed)
        .containsExactly(
            AuditError.DOCUMENT,
            place(event("receipt.signed", receipt)),
            "acme/run-9",
            "acme/run-1");
  }

  @Test
  void aPolicyThatAnAgentSigned() {
    Digest policy = home.policy().digest();
    AuditReport report = forged(rewrite().signer(policy, "alice"));
    assertThat(report.problems().getFirst())
        .extracting(Problem::code, Problem::place)
        .containsExactly(AuditError.SYSTEM, place(event("policy.activated", policy)));
  }

  @Test
  void anApprovalThatItsRequesterSigned() {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    Envelope approval = home.approval(pay, "rita", Approval.Verdict.APPROVE);
    home.kernel().approve(approval);
    AuditReport report = forged(rewrite().signer(approval.id(), "alice"));
    assertThat(report.problems().getFirst())
        .extracting(Problem::code, Problem::place)
        .containsExactly(AuditError.SIGNATURE, place(event("approval.received", approval.id())));
  }

  @Test
  void aDecisionUnderAPolicyThatWasReplacedLongBefore() {
    Digest old = home.policy().digest();
    home.activate(AHealthyLedgerHasNoProblemsTest.YAML.replace("limit: 60", "limit: 61"));
    home.clock.forward(Duration.ofMinutes(2));
    Answer later = home.submit(home.ask("alice"));
    Digest decision = later.decisionEnvelope().id();
    AuditReport report =
        forged(rewrite().document(decision, member("policy", JsonValue.of(old.toString()))));
    assertThat(report.problems().getFirst())
        .extracting(Problem::code, Problem::place, Problem::recorded)
        .containsExactly(
            AuditError.SYSTEM,
            place(event("decision.made", decision)) + " /policy",
            old.toString());
  }

  // Bindings and order.

  @Test
  void anIntentWithASeedOfItsOwn() {
    Digest intent = second.intent().orElseThrow().id();
    AuditReport report =
        forged(rewrite().document(intent, member("prng_seed", JsonValue.of("ab".repeat(32)))));
    assertThat(report.problems()).extracting(Problem::code).containsOnly(AuditError.BINDING);
    assertThat(report.problems().getFirst().place())
        .isEqualTo(place(event("intent.issued", intent)) + " /prng_seed");
  }

  @Test
  void anIntentForAnotherLedger() {
    Digest intent = second.intent().orElseThrow().id();
    AuditReport report =
        forged(rewrite().document(intent, deep("audience/incarnation", JsonValue.of(2))));
    assertThat(report.problems())
        .extracting(Problem::code)
        .containsExactly(AuditError.BINDING, AuditError.ORDER);
  }

  @Test
  void aReceiptUnderAnotherSnapshot() {
    Digest receipt = receipt(second);
    only(
        forged(
            rewrite()
                .document(receipt, member("snapshot", JsonValue.of(Digest.sha256().toString())))),
        AuditError.BINDING,
        place(event("receipt.signed", receipt)) + " /snapshot");
  }

  @Test
  void aReceiptWithOtherArguments() {
    Digest receipt = receipt(first);
    only(
        forged(
            rewrite()
                .document(receipt, member("args_hash", JsonValue.of(Digest.sha256().toString())))),
        AuditError.BINDING,
        place(event("receipt.signed", receipt)) + " /args_hash");
  }

  @Test
  void aSuccessWithoutItsOutput() {
    Digest receipt = receipt(second);
    AuditReport report =
        forged(
            rewrite()
                .document(
                    receipt,
                    document -> {
                      var members = new TreeMap<>(document.members());
                      members.remove("output");
                      return new JsonValue.Obj(members);
                    }));
    assertThat(report.problems())
        .extracting(Problem::code, Problem::place)
        .contains(
            org.assertj.core.groups.Tuple.tuple(
                AuditError.BINDING, place(event("receipt.signed", receipt)) + " /output"));
  }

  @Test
  void anApprovalOfAnotherEffectOrByTheKeyOfSomebodyElse() {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    Envelope approval = home.approval(pay, "rita", Approval.Verdict.APPROVE);
    home.kernel().approve(approval);
    home.submit(pay);
    String where = place(event("approval.received", approval.id()));
    for (Rewrite forger :
        List.of(
            rewrite()
                .document(
                    approval.id(), member("effect", JsonValue.of(Digest.sha256().toString()))),
            rewrite().signer(approval.id(), "roy"),
            rewrite().signer(approval.id(), "otto"))) {
      AuditReport report = forgedAnew(forger);
      assertThat(report.problems()).isNotEmpty();
      assertThat(report.problems().getFirst().code()).isEqualTo(AuditError.BINDING);
      assertThat(report.problems().getFirst().place()).startsWith(where);
      assertThat(report.problems()).extracting(Problem::code).contains(AuditError.JUDGEMENT);
    }
  }

  @Test
  void aDispatchAfterTheIntentExpired() {
    Envelope intent = second.intent().orElseThrow();
    only(
        forged(
            rewrite()
                .document(
                    intent.id(),
                    document -> with(document, "expires_at", document.get("issued_at")))),
        AuditError.ORDER,
        place(event("effect.dispatched", intent.id())));
  }

  @Test
  void anIntentThatIsDispatchedTwice() {
    Event dispatched = event("effect.dispatched", second.intent().orElseThrow().id());
    Event last = event("receipt.signed", receipt(second));
    only(
        forged(rewrite().repeat(last, dispatched)),
        AuditError.TWICE,
        "event acme/run-1 " + (last.seq() + 1) + " effect.dispatched");
  }

  @Test
  void anEffectThatHasTwoReceipts() {
    Event receipt = event("receipt.signed", receipt(second));
    AuditReport report = forged(rewrite().repeat(receipt, receipt));
    assertThat(report.problems())
        .extracting(Problem::code, Problem::place, Problem::recorded)
        .contains(
            org.assertj.core.groups.Tuple.tuple(
                AuditError.TWICE,
                "event acme/run-1 " + (receipt.seq() + 1) + " receipt.signed",
                "a second receipt"));
  }

  /** Of a request that waits: nothing was dispatched, so nothing can have come of it. */
  @Test
  void aReceiptOfWhatWasNotDispatched() {
    Envelope pay = home.ask("alice").tool("pay").sign();
    home.submit(pay);
    Event last = event("receipt.signed", receipt(second));
    AuditReport report =
        forged(
            rewrite()
                .repeat(event("decision.made", lastOf("decision.made")), last)
                .document(receipt(second), member("request", JsonValue.of(pay.id().toString()))));
    assertThat(report.problems())
        .extracting(Problem::code, Problem::recorded)
        .contains(
            org.assertj.core.groups.Tuple.tuple(
                AuditError.ORDER, "a receipt of what was not dispatched"));
  }

  private Digest lastOf(String kind) {
    return home.log().stream()
        .filter(e -> e.kind().equals(kind))
        .reduce((_, later) -> later)
        .orElseThrow()
        .body();
  }

  @Test
  void anIdempotencyKeyThatIsDispatchedTwice() {
    AuditReport report =
        forged(rewrite().document(second.request(), member("idempotency_key", JsonValue.of("k1"))));
    assertThat(report.problems())
        .extracting(Problem::code, Problem::place)
        .contains(
            org.assertj.core.groups.Tuple.tuple(AuditError.TWICE, "row idempotency acme/alice/k1"));
  }

  @Test
  void aNonceThatTwoRequestsUse() {
    JsonValue nonce = ((JsonValue.Obj) home.document(first.request()).document()).get("nonce");
    AuditReport report = forged(rewrite().document(second.request(), member("nonce", nonce)));
    assertThat(report.problems().getFirst())
        .extracting(Problem::code, Problem::place)
        .containsExactly(
            AuditError.TWICE,
            place(event("decision.made", second.decisionEnvelope().id())) + " request's nonce");
  }

  @Test
  void aStepThatTwoDecisionsTook() {
    Digest decision = second.decisionEnvelope().id();
    AuditReport report = forged(rewrite().document(decision, deep("inputs/step", JsonValue.of(1))));
    assertThat(report.problems().getFirst())
        .extracting(Problem::code, Problem::place)
        .containsExactly(
            AuditError.TWICE, place(event("decision.made", decision)) + " /inputs/step");
  }

  // Chains.

  @Test
  void aReceiptWithAnotherLamport() {
    Digest receipt = receipt(second);
    AuditReport report = forged(rewrite().document(receipt, member("lamport", JsonValue.of(9))));
    only(report, AuditError.CHAIN, place(event("receipt.signed", receipt)) + " /lamport");
    assertThat(report.problems().getFirst().recorded()).isEqualTo("9");
    assertThat(report.problems().getFirst().recomputed()).isEqualTo("2");
  }

  @Test
  void aReceiptThatDoesNotCountWhatItConsumes() {
    Answer other = home.submit(home.ask("alice").run("other").consumes(receipt(second)));
    AuditReport report =
        forged(rewrite().document(receipt(other), member("lamport", JsonValue.of(1))));
    only(report, AuditError.CHAIN, place(event("receipt.signed", receipt(other))) + " /lamport");
    assertThat(report.problems().getFirst().recomputed()).isEqualTo("3");
  }

  @Test
  void aReceiptThatFollowsAnother() {
    Digest receipt = receipt(second);
    only(
        forged(
            rewrite().document(receipt, member("prev", JsonValue.of(Digest.sha256().toString())))),
        AuditError.CHAIN,
        place(event("receipt.signed", receipt)) + " /prev");
  }

  @Test
  void aClosingThatCountsFewerReceipts() {
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    Event closed = home.last("acme", "run-1").orElseThrow();
    only(
        forged(rewrite().document(closed.body(), member("receipts", JsonValue.of(1)))),
        AuditError.CHAIN,
        place(closed) + " /receipts");
  }

  // Judgements and accounts.

  @Test
  void aDecisionWhoseCheckSaysSomethingElse() {
    Digest decision = second.decisionEnvelope().id();
    only(
        forged(rewrite().document(decision, deep("checks/3/detail", JsonValue.of("trust me")))),
        AuditError.JUDGEMENT,
        place(event("decision.made", decision)) + " /checks/3/detail");
  }

  @Test
  void aDenialThatBecameAnAllow() {
    Answer denied = home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
    Digest decision = denied.decisionEnvelope().id();
    AuditReport report =
        forged(
            rewrite()
                .document(
                    decision,
                    document ->
                        deep("checks/0/outcome", JsonValue.of("pass"))
                            .apply(with(document, "verdict", JsonValue.of("ALLOW")))));
    assertThat(report.problems().getFirst())
        .extracting(Problem::code, Problem::place)
        .matches(found ->
            found.get(0) == AuditError.JUDGEMENT
                && found
                    .get(1)
                    .toString()
                    .startsWith(place(event("decision.made", decision)) + " /checks/0/"));
  }

  @Test
  void aDecisionUnderRolesThatThePolicyDoesNotGive() {
    Digest decision = second.decisionEnvelope().id();
    only(
        forged(rewrite().document(decision, deep("inputs/roles/0", JsonValue.of("stand-in")))),
        AuditError.JUDGEMENT,
        place(event("decision.made", decision)) + " /inputs/roles/0");
  }

  @Test
  void anApprovalThatADecisionDoesNotCount() {
    Envelope pay = home.ask("alice").tool("pay").operation("twice").sign();
    home.submit(pay);
    home.approve(pay, "rita");
    Answer allowed = home.approve(pay, "roy");
    Digest decision = allowed.decisionEnvelope().id();
    JsonValue.Arr approvals = (JsonValue.Arr) allowed.decision().inputs().get("approvals");
    AuditReport report =
        forged(
            rewrite()
                .document(
                    decision,
                    deep("inputs/approvals", JsonValue.of(approvals.items().subList(0, 1)))));
    only(
        report,
        AuditError.JUDGEMENT,
        place(event("decision.made", decision)) + " /inputs/approvals/1");
  }

  @Test
  void aBalanceThatIsOneCallHigher() {
    Digest decision = second.decisionEnvelope().id();
    AuditReport report =
        forged(rewrite().document(decision, deep("inputs/balances/0/used", JsonValue.of(2))));
    only(
        report,
        AuditError.ACCOUNT,
        place(event("decision.made", decision)) + " /inputs/balances/0");
    assertThat(report.problems().getFirst().recorded()).isEqualTo("used 2 and reserved 0");
    assertThat(report.problems().getFirst().recomputed()).isEqualTo("together 1");
  }

  @Test
  void aBalanceThatForgetsWhatWasSpent() {
    Digest decision = second.decisionEnvelope().id();
    JsonValue.Arr balances = (JsonValue.Arr) second.decision().inputs().get("balances");
    for (int i = 0; i < balances.items().size(); i++) {
      JsonValue.Obj balance = (JsonValue.Obj) balances.items().get(i);
      if (balance.get("budget").equals(JsonValue.of("cpu"))) {
        only(
            forged(
                rewrite()
                    .document(decision, deep("inputs/balances/" + i + "/used", JsonValue.of(6)))),
            AuditError.ACCOUNT,
            place(event("decision.made", decision)) + " /inputs/balances/" + i);
      }
    }
  }

  @Test
  void aRateThatCountsLess() {
    Digest decision = second.decisionEnvelope().id();
    only(
        forged(rewrite().document(decision, deep("inputs/rates/0/count", JsonValue.of(0)))),
        AuditError.ACCOUNT,
        place(event("decision.made", decision)) + " /inputs/rates/0/count");
  }

  @Test
  void aBalanceBehindALostStepOnlyBeyondWhatThatCouldHaveTaken() {
    int[] failing = {0};
    home.restartWith(e ->
        executor(
            e,
            (type, document) -> {
              if (failing[0]-- > 0) {
                throw new IllegalStateException("no key");
              }
              return Envelope.sign(type, document, TestKeys.key("executor"));
            }));
    failing[0] = 1;
    assertThat(Refused.code(() -> home.submit(home.ask("alice")))).isEqualTo("EXE-801");
    Answer next = home.submit(home.ask("alice"));
    Digest decision = next.decisionEnvelope().id();
    AuditReport healthy = audit(home.ledgerConfig().dir());
    assertThat(healthy.problems()).isEmpty();
    assertThat(healthy.notVerified()).anyMatch(l -> l.startsWith("1 steps of the accounts"));
    only(
        forged(rewrite().document(decision, deep("inputs/balances/0/used", JsonValue.of(4)))),
        AuditError.ACCOUNT,
        place(event("decision.made", decision)) + " /inputs/balances/0");
  }

  private static SafeExecutor executor(SafeExecutor e, DocumentSigner signer) {
    return KernelSeam.with(e, e.receipt().withSigner(signer));
  }

  @Test
  void nothingWhereAToolIsNotRegisteredAnyMore() {
    home.tools.remove("mail", "1.0.0");
    AuditReport report = audit(home.ledgerConfig().dir());
    assertThat(report.problems()).isEmpty();
    assertThat(report.notVerified()).anyMatch(l -> l.startsWith("1 decisions: not judged again"));
  }

  // Rows.

  private AuditReport tampered(Consumer<Batch> change) {
    home.close();
    try (Ledger ledger = Ledger.open(home.ledgerConfig())) {
      Batch batch = new Batch();
      change.accept(batch);
      ledger.append(batch).await();
    }
    return audit(home.ledgerConfig().dir());
  }

  private void row(AuditReport report, String... places) {
    assertThat(report.problems()).extracting(Problem::code).containsOnly(AuditError.ROW);
    assertThat(report.problems()).extracting(Problem::place).containsExactlyInAnyOrder(places);
  }

  @Test
  void receiptsThatWereExchanged() {
    row(
        tampered(batch ->
            batch
                .put(Tables.SERVED, first.request().hex(), receipt(second).bytes())
                .put(Tables.SERVED, second.request().hex(), receipt(first).bytes())),
        "row served " + first.request().hex(),
        "row served " + second.request().hex());
  }

  @Test
  void aServedRowThatIsGone() {
    assertThat(tampered(batch -> batch.delete(Tables.SERVED, second.request().hex())).problems())
        .extracting(Problem::place)
        .contains("row served " + second.request().hex());
  }

  @Test
  void anIdempotencyKeyThatIsFreeAgain() {
    row(
        tampered(batch -> batch.delete(Tables.IDEMPOTENCY, Tables.key("acme", "alice", "k1"))),
        "row idempotency acme/alice/k1");
  }

  @Test
  void aDispatchThatNeverWas() {
    row(
        tampered(batch ->
            batch.put(
                Tables.DISPATCHED, first.request().hex(), "{}".getBytes(StandardCharsets.UTF_8))),
        "row dispatched " + first.request().hex());
  }

  @Test
  void aRunThatIsOpenedByAnother() {
    row(
        tampered(batch ->
            batch.put(
                Tables.RUN,
                Tables.key("acme", "run-1"),
                Jcs.write(
                    with(
                        (JsonValue.Obj) Jcs.parse(reading(Tables.RUN, Tables.key("acme", "run-1"))),
                        "opener",
                        JsonValue.of(TestKeys.key("bob").kid()))))),
        "row run acme/run-1");
  }

  private byte[] reading(String table, String key) {
    try (LedgerView reader = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      return reader.get(table, key).orElseThrow();
    }
  }

  @Test
  void aReceiptThatIsNotListed() {
    String key = Tables.key("acme", "run-1", Tables.number(2));
    row(
        tampered(batch -> batch.delete(Tables.RECEIPTS, key)),
        "row receipts acme/run-1/" + Tables.number(2));
  }

  @Test
  void aSuccessThatIsForgotten() {
    row(
        tampered(batch -> batch.delete(Tables.DONE, Tables.key("acme", "run-1", "mail", "do"))),
        "row done acme/run-1/mail/do");
  }

  @Test
  void aSuccessThatNeverWas() {
    AuditReport report =
        tampered(
            batch -> batch.put(Tables.DONE, Tables.key("acme", "run-1", "pay", "do"), new byte[0]));
    row(report, "table done");
    assertThat(report.problems().getFirst().recorded()).isEqualTo("3 rows");
  }

  /** Each is named, however odd its key or its value is. */
  @Test
  void rowsThatNoEventCauses() {
    String nobody = Digest.sha256(new byte[] {9}).hex();
    byte[] none = new byte[0];
    TreeMap<String, String> odd = new TreeMap<>();
    odd.put(Tables.key("acme", "alice", "k9"), Tables.IDEMPOTENCY);
    odd.put("x", Tables.RUN);
    odd.put(Tables.key("acme", "nowhere"), Tables.CLOSED);
    odd.put(nobody, Tables.REQUEST);
    odd.put("no digest", Tables.DOUBT);
    odd.put(Tables.key("acme", "run-1", nobody), Tables.PENDING);
    odd.put(Tables.key("acme", nobody), Tables.APPROVAL);
    row(
        tampered(batch -> odd.forEach((key, table) -> batch.put(table, key, none))),
        odd.entrySet().stream()
            .map(row -> "row " + row.getValue() + " " + row.getKey().replace('\u001f', '/'))
            .toArray(String[]::new));
  }

  @Test
  void rowsOfAnotherForm() {
    String key = Tables.key("acme", "alice", "k1");
    String output = first.served().orElseThrow().receipt().output().orElseThrow().digest().hex();
    row(
        tampered(batch ->
            batch
                .put(Tables.IDEMPOTENCY, key, new byte[] {1, 2, 3})
                .delete(Tables.HELD, Tables.key("acme", output, "alice", "run-1"))),
        "row idempotency acme/alice/k1",
        "row held acme/" + output + "/alice/run-1");
  }

  /** Formats 1 and 2 wrote it; format 1 in part without rows of {@code held}. */
  @Test
  void anOutputWithARowOfAnEarlierReleaseIsTheTenants() {
    Digest output = first.served().orElseThrow().receipt().output().orElseThrow().digest();
    String tenants = Tables.key("acme", output.hex());
    assertThat(TenantContents.has(home.ledger(), "acme", output)).isTrue();
    AuditReport report =
        tampered(batch ->
            batch
                .delete(Tables.HELD, Tables.key(tenants, "alice", "run-1"))
                .put(Tables.REFERENCE, tenants, new byte[0]));
    assertThat(report.problems()).isEmpty();
    try (LedgerView view = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      assertThat(TenantContents.has(view, "acme", output)).isTrue();
      assertThat(TenantContents.has(view, "other", output)).isFalse();
      assertThat(TenantContents.has(view, "acme", Digest.sha256(new byte[] {7}))).isFalse();
    }
  }

  @Test
  void aClosedRunThatMayGoOn() {
    home.enrol(TestKeys.trusted("log", KeyRole.LOG, Optional.empty()));
    home.kernel().closeRun(home.close("acme", "run-1", "alice"));
    row(
        tampered(batch -> batch.delete(Tables.CLOSED, Tables.key("acme", "run-1"))),
        "row closed acme/run-1");
  }

  @Test
  void anAccountThatWasSetBack() {
    String key = "account/" + second.request().hex();
    row(
        tampered(batch ->
            batch.put(
                Tables.ACCOUNT,
                key,
                Jcs.write(
                    with(
                        (JsonValue.Obj) Jcs.parse(reading(Tables.ACCOUNT, key)),
                        "charges",
                        JsonValue.of(List.of()))))),
        "row account " + key + " /charges");
  }

  @Test
  void anAccountThatIsGone() {
    String key = "account/" + second.request().hex();
    row(tampered(batch -> batch.delete(Tables.ACCOUNT, key)), "row account " + key);
  }

  @Test
  void aSummaryThatSaysLessThanTheRows() {
    for (int i = 0; i < 20; i++) {
      home.submit(home.ask("alice").tool("mail"));
    }
    String key = home.rows(Tables.ACCOUNT_SUMMARY).getFirst();
    AccountSummary summary = AccountSummary.read(reading(Tables.ACCOUNT_SUMMARY, key));
    JsonValue.Obj without =
        with((JsonValue.Obj) Jcs.parse(summary.toBytes()), "sums", JsonValue.of(List.of()));
    String nonces = home.rows(Tables.ACCOUNT_NONCES).getLast();
    summary(tampered(batch -> batch.put(Tables.ACCOUNT_SUMMARY, key, Jcs.write(without))));
    summary(tampered(batch -> batch.put(Tables.ACCOUNT_SUMMARY, key, new byte[] {'{'})));
    summary(
        tampered(batch ->
            batch
                .put(Tables.ACCOUNT_SUMMARY, key, summary.toBytes())
                .put(Tables.ACCOUNT_NONCES, nonces, new byte[0])));
  }

  private static void summary(AuditReport report) {
    assertThat(report.problems()).isNotEmpty();
    assertThat(report.problems()).extracting(Problem::code).containsOnly(AuditError.ROW);
    assertThat(report.problems())
        .extracting(Problem::place)
        .containsOnly("summaries of the accounts");
  }

  @Test
  void aRequestThatMayBeJudgedAnew() {
    String key = first.request().hex();
    AuditReport report =
        tampered(batch ->
            batch.put(
                Tables.REQUEST,
                key,
                Jcs.write(
                    with(
                        (JsonValue.Obj) Jcs.parse(reading(Tables.REQUEST, key)),
                        "state",
                        JsonValue.of("lapsed")))));
    row(report, "row request " + key);
    assertThat(report.totals().receipts()).isEqualTo(2);
  }
}
