package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner.Signed;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.ChangeOrder;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.AllowedBy;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Surroundings;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.Accounting;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.ApprovalVerification;
import dev.writ.guardian.Circumstances;
import dev.writ.guardian.Guardian;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.RunOwnership;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Verdict;
import dev.writ.guardian.error.GuardianError;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Commit;
import dev.writ.ledger.LedgerState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Has requests judged and prepares the writes of each judgement. The Guardian decides; this class
 * gathers its inputs and keeps the order of events.
 */
final class Judging {
  private static final int READINGS_MAX = 8;

  private final LedgerState ledger;
  private final KernelTime time;
  private final Accounting accounts;
  private final Surroundings.Consumable consumable;
  private final Guardian guardian;
  private final Tools tools;
  private final ProfileFindings profiles;

  Judging(
      LedgerState ledger,
      KernelTime time,
      Accounting accounts,
      Surroundings.Consumable consumable,
      Guardian guardian,
      Tools tools) {
    this.ledger = ledger;
    this.consumable = consumable;
    this.time = time;
    this.accounts = accounts;
    this.guardian = guardian;
    this.tools = tools;
    this.profiles = new ProfileFindings(ledger);
  }

  /** A judgement that is not committed yet. */
  record Judged(Answer answer, DecisionWrites pendingWrites) {}

  /** Pending writes that know whether a batch with them was enqueued. */
  static final class DecisionWrites implements PendingWrites {
    private final PendingWrites pendingWrites;
    private final boolean ofNewRequest;
    private final Optional<Issued> issued;
    private final Optional<Envelope> request;
    private boolean written;

    DecisionWrites(
        boolean ofNewRequest,
        Optional<Issued> issued,
        Optional<Envelope> request,
        PendingWrites pendingWrites) {
      this.ofNewRequest = ofNewRequest;
      this.request = request;
      this.issued = issued;
      this.pendingWrites = pendingWrites;
    }

    @Override
    public boolean isOfNewRequest() {
      return ofNewRequest;
    }

    @Override
    public Optional<Issued> issued() {
      return issued;
    }

    @Override
    public Optional<Envelope> request() {
      return request;
    }

    @Override
    public void writeTo(RunTurn turn) {
      pendingWrites.writeTo(turn);
      turn.whenEnqueued(() -> written = true);
    }
  }

  /** Returns the reservation of a judgement whose batch was never enqueued. */
  void releaseIfNotEnqueued(Judged judged) {
    if (!judged.pendingWrites().written) {
      accounts.forget(judged.answer().request());
    }
  }

  /** Commits a judgement on its own, without an execution. */
  void commit(Judged judged, Runs.Borrowed run, ChangeOrder changes) {
    Commit commit;
    try (RunTurn turn = run.turn().before(changes)) {
      judged.pendingWrites().writeTo(turn);
      commit = turn.enqueue();
    } finally {
      releaseIfNotEnqueued(judged);
    }
    commit.await();
    accounts.durable(judged.answer().request());
  }

  /**
   * Refuses a request for a run of another owner without writing it there, because the owner can
   * read everything in the run.
   *
   * @throws WritException {@code EXE-901}, {@code EXE-902}, {@code GRD-721}; nothing is written
   */
  void requireOwnRun(Admitted admitted, Runs.Borrowed run, Policy policy) {
    run.seedFor(admitted.holder().kid());
    Optional<String> owner = owner(admitted.request(), run);
    if (RunOwnership.isOfAnother(admitted, policy, owner)) {
      throw new WritException(
          GuardianError.RUN_FOREIGN, "run \"" + admitted.request().scope().run() + "\"");
    }
  }

  /** The subject that the run is for, if a surface vouches for the request. */
  private static Optional<String> owner(Request request, Runs.Borrowed run) {
    return request.origin().map(_ -> run.ownerFor(request.scope().subject()));
  }

  /**
   * Judges a request: for the first time, or again after its intent lapsed. Earlier approvals and
   * evidence count again if they are valid now.
   *
   * @param before its earlier row; its age counts from when it was first received
   * @param raw the raw request behind a vouched one
   * @throws WritException {@code EXE-307}, {@code EXE-004}, {@code EXE-901}, {@code EXE-902}
   */
  Judged judge(
      Admitted admitted,
      Optional<RequestRow> before,
      List<Envelope> approvals,
      List<Envelope> evidence,
      Optional<byte[]> raw,
      Runs.Borrowed run,
      Trust trust,
      Policy policy) {
    Request request = admitted.request();
    String runSeed = run.seedFor(admitted.holder().kid());
    request.consumes().forEach(id -> consumable.require(admitted, id));
    requireNamed(request, evidence);
    Tools.Circumstances tool = tools.circumstances(request.effect(), policy);
    List<Envelope> allApprovals = new ArrayList<>(approvals);
    List<Envelope> allEvidence = new ArrayList<>(evidence);
    if (before.isPresent()) {
      allApprovals.addAll(storedApprovals(admitted.id()));
      broughtBefore(request, before.get()).stream()
          .flatMap(id -> ledger.document(id).stream())
          .forEach(allEvidence::add);
    }
    Accounts.Judged judged =
        judged(
            admitted,
            circumstances(ledger, request, tool, allApprovals, allEvidence, before)
                .withProfile(profiles.find(admitted, before, approvals, raw, policy))
                .withOwner(owner(request, run)),
            policy,
            trust);
    try {
      return issue(admitted, before, evidence, runSeed, tool, judged);
    } catch (RuntimeException e) {
      accounts.forget(admitted.id()); // the decision cannot be signed, so nothing is charged
      throw e;
    }
  }

  /** Reads the clock again if another thread used the accounts at a later time meanwhile. */
  private Accounts.Judged judged(Admitted a, Circumstances c, Policy policy, Trust trust) {
    for (int attempt = 1; ; attempt++) {
      try {
        Instant now = time.now(KernelTime.Reading.JUDGEMENT);
        requireReceived(a, now);
        return accounts.judge(a, c, policy, trust, now);
      } catch (WritException e) {
        if (e.code() != GuardianError.JUDGED_LATE || attempt == READINGS_MAX) {
          throw e;
        }
      }
    }
  }

  /**
   * The evidence that was submitted with this request before. That a document is in the ledger is
   * not enough: another party may have submitted it, and knowing its digest gives no right to it.
   */
  private List<Digest> broughtBefore(Request request, RequestRow before) {
    Decision decision = Decision.read(ledger.document(before.decision()).orElseThrow().document());
    JudgeInputs inputs = JudgeInputs.read(decision.inputs());
    return Stream.concat(
            inputs.artifacts().stream().map(JudgeInputs.SeenArtifact::id),
            inputs.ignored().stream().map(JudgeInputs.Ignored::id))
        .filter(request.evidence()::contains)
        .toList();
  }

  /**
   * Refuses a request that was received while the clock was ahead: it would stay fresh until that
   * time comes.
   */
  private static void requireReceived(Admitted admitted, Instant now) {
    if (admitted.receivedAt().isAfter(now.plus(Admission.SKEW))) {
      throw new WritException(
          GuardianError.REQUEST_RECEIVED_AHEAD,
          "received at " + admitted.receivedAt() + ", now " + now);
    }
  }

  private Judged issue(
      Admitted admitted,
      Optional<RequestRow> before,
      List<Envelope> evidence,
      String runSeed,
      Tools.Circumstances tool,
      Accounts.Judged judged) {
    Signed<Decision> decision = guardian.sign(judged.decision());
    Optional<Signed<Intent>> intent = Optional.empty();
    if (decision.document().verdict() == Verdict.ALLOW) {
      intent =
          Optional.of(
              guardian.sign(
                  guardian.intentFor(
                      decision.document(),
                      decision.envelope().id(),
                      tool.manifest().ref(),
                      HexFormat.of().parseHex(runSeed),
                      time.now(KernelTime.Reading.INTENT))));
    }
    Answer answer =
        new Answer(
            admitted.id(),
            decision.envelope(),
            decision.document(),
            intent.map(Signed::envelope),
            Optional.empty());
    Optional<Intent> issued = intent.map(Signed::document);
    return new Judged(
        answer,
        new DecisionWrites(
            before.isEmpty(),
            intent.map(signed -> new PendingWrites.Issued(decision, signed)),
            Optional.of(admitted.envelope()),
            turn -> {
              if (before.isEmpty()) {
                turn.open(admitted.holder().kid(), runSeed, admitted.id(), admitted.receivedAt());
                turn.event(EventKind.REQUEST_RECEIVED, admitted.id(), admitted.receivedAt());
                turn.batch().document(admitted.envelope());
              }
              storable(evidence, answer.decision()).forEach(turn.batch()::document);
              DecisionRows.write(turn, answer, issued, before, admitted.receivedAt());
              judged.rows().forEach(row -> ReceiptStage.write(turn, row));
            }));
  }

  /**
   * Only verified evidence is stored. The ledger keeps only the first envelope of a payload, so a
   * forged one would keep out the genuine one that comes later.
   */
  private static List<Envelope> storable(List<Envelope> evidence, Decision decision) {
    if (evidence.isEmpty()) {
      return List.of();
    }
    List<Digest> verified =
        JudgeInputs.read(decision.inputs()).artifacts().stream()
            .map(JudgeInputs.SeenArtifact::id)
            .toList();
    return evidence.stream().filter(document -> verified.contains(document.id())).toList();
  }

  static Circumstances circumstances(
      LedgerState ledger,
      Request request,
      Tools.Circumstances tool,
      List<Envelope> approvals,
      List<Envelope> evidence,
      Optional<RequestRow> before) {
    return new Circumstances(
        tool.manifest(),
        tool.snapshot(),
        approvals,
        evidence.stream().map(Circumstances.Evidence::new).toList(),
        (name, operation) ->
            ledger
                .get(
                    Tables.DONE,
                    Tables.key(request.scope().tenant(), request.scope().run(), name, operation))
                .isPresent(),
        before.map(RequestRow::decision));
  }

  /**
   * Judges a pending request again, with all its approvals.
   *
   * @param now one reading of the clock, for the event of the approval
   * @param arrives whether it comes now; one that was recorded was not held to all that is asked
   *     now of what arrives
   * @return empty if this approval was already applied
   * @throws WritException {@code GRD-6xx}, {@code CAN-0xx} for an approval that is not valid:
   *     nothing is written then
   */
  Optional<Judged> approve(
      Envelope approval,
      RequestRow row,
      Runs.Borrowed run,
      Trust trust,
      Policy policy,
      Instant now,
      boolean arrives) {
    Decision pending = Decision.read(ledger.document(row.decision()).orElseThrow().document());
    Envelope envelope = ledger.document(pending.request()).orElseThrow();
    Admitted admitted = Admission.readmit(envelope, trust, policy, row.receivedAt(), now);
    ApprovalVerification.verify(approval, admitted, policy, trust, now);
    if (arrives) {
      profiles.requireFinding(Approval.read(approval.document()), admitted.request(), row, policy);
    }
    String key = Tables.key(pending.request().hex(), approval.id().hex());
    if (ledger.get(Tables.APPROVAL, key).isPresent()) {
      return Optional.empty();
    }
    Judged judged =
        judge(
            admitted,
            Optional.of(row),
            List.of(approval),
            List.of(),
            Optional.empty(),
            run,
            trust,
            policy);
    return Optional.of(
        new Judged(
            judged.answer(),
            new DecisionWrites(
                false,
                Optional.empty(),
                Optional.empty(),
                turn -> {
                  turn.event(EventKind.APPROVAL_RECEIVED, approval.id(), now);
                  turn.batch().document(approval).put(Tables.APPROVAL, key, new byte[0]);
                  judged.pendingWrites().writeTo(turn);
                })));
  }

  private List<Envelope> storedApprovals(Digest request) {
    List<Envelope> approvals = new ArrayList<>();
    ledger.scan(
        Tables.APPROVAL,
        Tables.prefix(request.hex()),
        (key, _) -> {
          approvals.add(
              ledger.document(Digest.parse("sha256:" + Tables.lastPart(key))).orElseThrow());
          return true;
        });
    return approvals;
  }

  /**
   * Whether a request's decision still stands; it does not only if an intent lapsed before
   * dispatch.
   */
  boolean live(RequestRow row, Trust trust, Policy policy) {
    return switch (row.state()) {
      case DENIED, PENDING -> true;
      case LAPSED -> false;
      case ALLOWED -> stands(row, trust, policy);
    };
  }

  /** Writes a recorded judgement, with its events and rows. */
  void writeRecorded(
      RunTurn turn,
      Envelope request,
      String runSeed,
      Answer answer,
      Optional<RequestRow> before,
      Optional<Envelope> approval) {
    Instant receivedAt = JudgeInputs.read(answer.decision().inputs()).receivedAt();
    if (before.isEmpty()) {
      turn.open(answer.decision().holder(), runSeed, request.id(), receivedAt);
      turn.event(EventKind.REQUEST_RECEIVED, request.id(), receivedAt);
    }
    approval.ifPresent(word -> {
      turn.event(EventKind.APPROVAL_RECEIVED, word.id(), time.now(KernelTime.Reading.APPROVAL));
      turn.batch()
          .put(Tables.APPROVAL, Tables.key(answer.request().hex(), word.id().hex()), new byte[0]);
    });
    DecisionRows.write(
        turn,
        answer,
        answer.intent().map(envelope -> Intent.read(envelope.document())),
        before,
        receivedAt);
  }

  /**
   * Whether an allowed request's intent can still be served: not expired, of this incarnation and
   * this owner, under the same snapshot, and allowed by nobody whose key was revoked since.
   */
  private boolean stands(RequestRow row, Trust trust, Policy policy) {
    Intent intent =
        Intent.read(ledger.document(row.intent().orElseThrow()).orElseThrow().document());
    Instant now = time.now(KernelTime.Reading.STANDING);
    if (!now.isBefore(intent.expiresAt())
        || now.isBefore(intent.issuedAt().minus(Admission.SKEW))
        || !intent.audience().equals(guardian.audience())) {
      return false;
    }
    Decision decision = Decision.read(ledger.document(row.decision()).orElseThrow().document());
    Request request = Request.read(ledger.document(intent.request()).orElseThrow().document());
    return AllowedBy.revoked(decision, request, trust, ledger::document).isEmpty()
        && decision.snapshot().equals(tools.circumstances(request.effect(), policy).snapshot());
  }

  /** The outcome of a request, from the ledger. */
  Answer known(Digest request, RequestRow row) {
    return known(ledger, request, row);
  }

  /** The same of a request that a log has. */
  static Answer known(LedgerState ledger, Digest request, RequestRow row) {
    Envelope decision = ledger.document(row.decision()).orElseThrow();
    return new Answer(
        request,
        decision,
        Decision.read(decision.document()),
        row.intent().map(id -> ledger.document(id).orElseThrow()),
        Optional.empty(),
        true);
  }

  /** Requires that a receipt exists in the tenant; its run does not matter. */
  static void requireConsumable(LedgerState ledger, Request request, Digest id) {
    ledger
        .document(id)
        .filter(e -> e.payloadType().equals(Receipt.TYPE))
        .map(e -> Receipt.read(e.document()))
        .filter(r -> r.scope().tenant().equals(request.scope().tenant()))
        .orElseThrow(() -> new WritException(ExecutorError.CONSUMED_UNKNOWN, id.toString()));
  }

  private static void requireNamed(Request request, List<Envelope> evidence) {
    for (Envelope document : evidence) {
      if (!request.evidence().contains(document.id())) {
        throw new WritException(
            ExecutorError.MALFORMED, "the request's evidence does not name " + document.id());
      }
    }
  }
}
