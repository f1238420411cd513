package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.apart.RemoteExecutor;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.document.Resolution;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.error.StoreFailure;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.executor.reads.ReadLog;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.retention.Sealing;
import dev.writ.executor.stage.Idempotency;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.executor.stage.Surroundings;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.limit.ClockLimits;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.Batch;
import dev.writ.ledger.BlobSink;
import dev.writ.ledger.CommitObserver;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.ledger.seal.ContentOwner;
import java.io.IOException;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Guardian and SafeExecutor over one ledger: the one pipeline that every surface goes through.
 * Thread safe. Opening it recovers what a crash left behind.
 */
public final class Kernel {
  private final Ledger ledger;
  private final LongSupplier elapsed;
  private final KernelTime time;
  private final AccountSummaries summaries;
  private final Accounts accounts;
  private final Runs runs;
  private final KeyedLocks locks = new KeyedLocks();
  private final Tools tools;
  private final WorkspaceWipes wipes;
  private final Idempotency idempotency;
  private final SafeExecutor executor;
  private final Administration administration;
  private final RunClosings closings;
  private final Recovery recovery;
  private final KernelSigningKeys ownKeys;
  private final StateGate inForce;
  private final BatchedSignatureCheck signatures = new BatchedSignatureCheck();
  private final KeptEnvelopes kept;
  private final Watch stages = new Watch();
  private final ReadAccess access;
  private final ReadLog reads;
  private final TenantMoves moves;
  private final Optional<ApartGuardian> apart;
  private final HeldReceipts held;
  private final AwaitedReceipts awaited;
  private final CellGate gate;
  private final RequestPath path;
  private final ContentOperations contents;
  private final CellOperations cells;
  private final AuxiliaryRows auxiliary;
  private final Explanations explanations;
  private final RunWorkspaces workspaces;
  private volatile Runnable changed = () -> {};
  private volatile CellRules cell = CellRules.ALONE;

  private Kernel(
      KernelConfig config, UnaryOperator<SafeExecutor> seam, Optional<RemoteExecutor> elsewhere) {
    this.ledger = config.ledger();
    this.elapsed = config.elapsed();
    this.inForce = new StateGate(SystemState.read(ledger));
    this.access = new ReadAccess(ledger, this::system);
    this.time =
        new SteadyTime(
            config.clock(), config.elapsed(), () -> system().clockLimits(), ledger.highWater());
    time.now(KernelTime.Reading.OUTSIDE); // refuses a clock that does not fit the log
    this.summaries =
        AccountSummaries.restore(ledger, system().policyInForce(), config.summarizedEvery());
    this.accounts = summaries.accounts();
    this.tools = new Tools(config.registry(), config.drivers());
    this.apart =
        elsewhere.map(executing ->
            new ApartGuardian(
                executing, ledger, time, this::system, this::write, stages, this::receiptStage));
    this.workspaces = apart.<RunWorkspaces>map(a -> a).orElse(config.workspaces());
    this.wipes = new WorkspaceWipes(ledger, workspaces, locks);
    this.kept = new KeptEnvelopes(ledger, locks);
    this.ownKeys = new KernelSigningKeys(config.guardianKey(), config.executorKey());
    this.held =
        new HeldReceipts(
            config.again(), time::latest, at -> ownKeys.executorMaySign(system().trust(), at));
    Surroundings around = surroundings(config);
    KernelWiring parts =
        KernelWiring.of(
            around,
            stages -> apart.map(stages::with).map(seam).orElseGet(() -> seam.apply(stages)));
    this.reads = new ReadLog(ledger, guarded(KeyRole.EXECUTOR));
    TenantWork work = new TenantWork();
    this.moves =
        new TenantMoves(
            ledger, accounts, guarded(KeyRole.GUARDIAN), time, inForce, work, () -> cell);
    this.runs = parts.runs();
    this.idempotency = parts.idempotency();
    this.executor = parts.executor();
    this.administration = parts.administration();
    this.closings = parts.closings();
    this.recovery = parts.recovery();
    this.awaited = new AwaitedReceipts(ledger, locks, runs, wipes, held, apart);
    this.gate = new CellGate(moves, work, () -> cell);
    this.path =
        new RequestPath(
            ledger,
            around,
            parts,
            locks,
            wipes,
            awaited,
            new Admissions(ledger, time, inForce, signatures),
            kept,
            ownKeys,
            inForce,
            moves,
            gate,
            summaries);
    this.contents =
        new ContentOperations(
            ledger,
            time,
            inForce,
            ownKeys,
            new ContentRetention(ledger, guarded(KeyRole.EXECUTOR)),
            awaited,
            () -> cell,
            this::cover,
            summaries);
    this.cells =
        new CellOperations(
            time,
            inForce,
            new CellRoots(ledger, guarded(KeyRole.GUARDIAN)),
            moves,
            () -> cell,
            this::cover);
    this.auxiliary = new AuxiliaryRows(ledger);
    this.explanations = new Explanations(ledger, time, accounts, tools, path, inForce);
  }

  private Surroundings surroundings(KernelConfig config) {
    return new Surroundings(
        ledger,
        time,
        config.random(),
        accounts,
        guarded(KeyRole.GUARDIAN),
        guarded(KeyRole.EXECUTOR),
        tools,
        new Audience(ledger.origin(), ledger.incarnation(), ledger.leaseEpoch()),
        (tool, version) -> system().isProhibited(tool, version),
        this::readable,
        this::requireConsumable,
        input -> ledger.openBlob(input.digest()),
        this::write,
        workspaces,
        config::region,
        held,
        stages);
  }

  private ReceiptStage receiptStage() {
    return executor.receipt();
  }

  private DocumentSigner guarded(KeyRole role) {
    return ownKeys.guarded(role, () -> system().trust(), time::latest);
  }

  /**
   * Signs with another key from now on. What the one before signed counts as long as that is not
   * revoked, so an intent that is under way goes on.
   *
   * @param role guardian, executor or log
   * @throws WritException {@code EXE-912} where the key is not enrolled in that role, or not in
   *     force
   */
  public void signWith(KeyRole role, SigningKey key) {
    KernelSigningKeys.require(system().trust(), role, key.kid(), time.latest());
    if (role == KeyRole.LOG) {
      ledger.signWith(key);
    } else {
      ownKeys.exchange(role, key);
    }
  }

  /**
   * Requires that the keys are in force with which decisions, intents, receipts and checkpoints are
   * signed: without them nothing is judged, executed or closed.
   *
   * @throws WritException {@code EXE-912}
   */
  public void requireKeys() {
    ownKeys.require(system().trust(), time.latest());
    requireLogKey(time.latest());
  }

  /** Registers what is told of each change of the system run, after it is in force and durable. */
  public void whenChanged(Runnable listener) {
    changed = listener;
  }

  /** Has the log be one of several in its installation, before any work is given to the kernel. */
  public void inCell(CellRules rules) {
    cell = rules;
    ledger.alsoRequire(rules::requireCurrent);
  }

  /** Registers timing observers; they cannot affect execution. */
  public void observe(StageObserver ofStages, CommitObserver ofCommits) {
    stages.to = ofStages;
    ledger.observe(ofCommits);
  }

  /** The epoch under which this kernel owns the log, where it has a lease of it. */
  public Optional<Long> epoch() {
    return ledger.leaseEpoch();
  }

  /** How long it may still dispatch under its lease; empty where it has none. */
  public Optional<Duration> leaseLeft() {
    return ledger.leaseLeft();
  }

  /** Registers a listener for the ledger's final failure; see {@link Ledger#whenStopped}. */
  public void whenStopped(Consumer<WritException> listener) {
    ledger.whenStopped(listener);
  }

  /** How many batches wait for the disk. */
  public int commitsWaiting() {
    return ledger.commitsWaiting();
  }

  /** Forwards to the observer that is registered once the kernel is open. */
  private static final class Watch implements StageObserver {
    private volatile StageObserver to = StageObserver.NONE;

    @Override
    public void begins(Stage stage) {
      to.begins(stage);
    }

    @Override
    public void ends(Stage stage, Optional<ErrorCode> refused) {
      to.ends(stage, refused);
    }

    @Override
    public void notStored(RuntimeException why) {
      to.notStored(why);
    }
  }

  /**
   * Writes the first events of a new ledger's system run: keys and policy.
   *
   * @param changes signed enrolments, an operator's own first
   */
  public static void found(
      Ledger ledger,
      List<Envelope> changes,
      Envelope policy,
      InstantSource clock,
      SecureRandom random) {
    SteadyTime time = new SteadyTime(clock, () -> 0, () -> ClockLimits.DEFAULT, ledger.highWater());
    Administration administration = new Administration(ledger, time, new Runs(ledger, random));
    StateGate inForce = new StateGate(SystemState.read(ledger));
    changes.forEach(change -> inForce.change(state -> administration.change(change, state)));
    inForce.change(state -> administration.activate(policy, state));
  }

  /**
   * Brings the log of a cell up to what is in force in its installation, before a kernel is opened
   * over it. Each statement gets the time that it has in the system cell, or the log's where that
   * is beyond it: so keys that have ended since then still count.
   *
   * @param statements all of the system cell, in order
   * @throws WritException {@code EXE-993}, and the code of a statement that does not hold here
   */
  public static void copy(Ledger ledger, List<SystemStatement> statements, SecureRandom random) {
    CellCopies.copy(ledger, statements, random);
  }

  /**
   * Opens a kernel. Effects that were dispatched and not finished become IN_DOUBT, with a receipt.
   *
   * @throws WritException {@code EXE-911} where no policy is in force, and the code of any document
   *     of the system run that is not valid
   */
  public static Kernel open(KernelConfig config) {
    return open(config, executor -> executor);
  }

  /**
   * Opens the kernel of a guardian whose executor is another process (spec/apart.md). What was
   * dispatched and has no receipt here gets the executor's, as soon as that answers.
   *
   * @param config its executor's key signs over there
   * @throws WritException as {@link #open(KernelConfig)}
   */
  public static Kernel guarding(KernelConfig config, RemoteExecutor elsewhere) {
    return opened(new Kernel(config, executor -> executor, Optional.of(elsewhere)));
  }

  /**
   * Opens the executor of a guardian in another process (spec/apart.md).
   *
   * @param config with a ledger of its own that {@link ApartExecutor#found} began, and without a
   *     guardian's key: its own in that place signs no decision, since no guardian has it
   * @param guarded the origin of the guardian's log
   */
  public static ApartExecutor executing(KernelConfig config, String guarded) {
    GuardianLog log = new GuardianLog(config.ledger(), guarded);
    Kernel kernel =
        opened(
            new Kernel(
                config, stages -> stages.with(stages.gate().in(log::audience)), Optional.empty()));
    return new ApartExecutor(
        kernel,
        config.ledger(),
        kernel.time,
        kernel.inForce,
        kernel.executor,
        kernel.runs,
        kernel.locks,
        kernel.ownKeys,
        kernel.closings,
        kernel.awaited,
        config.executorKey(),
        log);
  }

  /** For tests: replaces a collaborator of a stage by one that fails. */
  static Kernel open(KernelConfig config, UnaryOperator<SafeExecutor> seam) {
    return opened(new Kernel(config, seam, Optional.empty()));
  }

  private static Kernel opened(Kernel kernel) {
    kernel.recover();
    kernel.seal();
    kernel.wipes.makeUp(kernel.time.latest());
    kernel.dropExpiredAccounts();
    kernel.summaries.writeIfDue();
    return kernel;
  }

  /** Seals closed runs; without a log key in force they wait for the next one. */
  private void seal() {
    try {
      requireLogKey(time.latest());
    } catch (WritException e) {
      return;
    }
    closings.sealUnsealed(ledger, this::checkpoint);
  }

  /**
   * Does nothing if verifiers would refuse the executor's key: effects in doubt wait for the next
   * key.
   */
  private void recover() {
    if (apart.isPresent()) {
      settleAwaited();
    } else if (ownKeys.executorMaySign(system().trust(), time.latest())) {
      recovery.recover(ledger);
    }
  }

  /**
   * Where the executor is another process: asks it for the receipts that this log still lacks. Else
   * signs those that could not be signed when their effects ended. What is left is for the next
   * call, and for whoever sends the request again.
   *
   * @return how many are left
   */
  public int settleAwaited() {
    return awaited.settleAll();
  }

  /** Uses the time of the last event, so that an audit computes the same rows. */
  private void dropExpiredAccounts() {
    Batch batch = new Batch();
    List<Accounts.Row> expired = accounts.expire(ledger.highWater());
    expired.forEach(row -> batch.delete(Tables.ACCOUNT, row.key()));
    if (!expired.isEmpty()) {
      ledger.append(batch).await();
    }
  }

  /**
   * Judges a request and, where it is allowed, executes it. A request that was seen before gets its
   * earlier outcome.
   *
   * @param evidence documents that the request's evidence list names
   * @throws WritException where it is not admitted ({@code CAN-}, {@code GRD-0xx}; nothing is
   *     written) or where the executor refuses before dispatch ({@code EXE-1xx} to {@code 3xx})
   */
  public Answer submit(Envelope request, List<Envelope> evidence) {
    return take(() -> request, evidence, Optional.empty(), RequestPath.EXECUTE);
  }

  /** The same for the bytes of a signed request, which are parsed only if policy allows so many. */
  public Answer submit(byte[] request, List<Envelope> evidence) {
    return take(() -> path.parsed(request), evidence, Optional.empty(), RequestPath.EXECUTE);
  }

  /**
   * The same for a request that a surface with a profile vouches for.
   *
   * @param raw the surface's raw request, whose digest the request's origin names; it is read by
   *     the profile and not kept
   * @throws WritException also {@code GRD-701} where it is another one
   */
  public Answer submit(Envelope request, List<Envelope> evidence, Optional<byte[]> raw) {
    return take(() -> request, evidence, raw, RequestPath.EXECUTE);
  }

  /** Judges a request only: the first of two steps. */
  public Answer decide(Envelope request, List<Envelope> evidence) {
    return take(() -> request, evidence, Optional.empty(), RequestPath.DECIDE);
  }

  /**
   * Refuses an allowed request that is not to be dispatched any more, because its turn did not come
   * in time, for example: stage 3 records the refusal, and the reservation is released. It waits
   * for no effect that uses the run's workspace. Whoever submits the request again has it judged
   * again.
   *
   * @param why what stage 3 refuses with, unless a stage finds another reason before
   * @return its outcome, if it has one already; a request that policy does not allow now is denied
   * @throws WritException {@code why}, or as {@link #submit}
   */
  public Answer giveUp(Envelope request, WritException why) {
    return take(
        () -> request,
        List.of(),
        Optional.empty(),
        new RequestPath.Wanted(true, false, Optional.of(why)));
  }

  /** The same for the bytes of a signed request. */
  public Answer decide(byte[] request, List<Envelope> evidence) {
    return take(() -> path.parsed(request), evidence, Optional.empty(), RequestPath.DECIDE);
  }

  private Answer take(
      Supplier<Envelope> request,
      List<Envelope> evidence,
      Optional<byte[]> raw,
      RequestPath.Wanted wanted) {
    try (BatchedSignatureCheck.Presence _ = signatures.enter()) {
      return path.take(request, evidence, raw, wanted);
    }
  }

  /**
   * Verifies the signatures of a request before it is submitted, together with those of others that
   * come at the same time (spec/envelope.md, rule 12). It remembers that they hold.
   *
   * @param keys one for each signature
   * @throws WritException {@code CAN-060} for the first that does not hold
   */
  public void verifySignatures(Envelope request, List<VerifyingKey> keys) {
    try (BatchedSignatureCheck.Presence _ = signatures.enter()) {
      signatures.verify(request, keys);
    }
  }

  /** Whether the tool of an effect, as it is registered now, uses the workspace of its run. */
  public boolean usesWorkspace(Effect effect) {
    return tools.usesWorkspace(effect);
  }

  /**
   * Begins the next incarnation of a ledger that was put back from a backup (protocol rule 27):
   * what was signed for the one before is void, and that is an event. A clock that does not fit the
   * log does not stop it: the event has the log's latest time then.
   *
   * @param signed an operator's change of kind {@code ledger.incarnated}, for the new number and
   *     the time of the event
   * @return the new incarnation
   */
  public static long incarnate(LedgerConfig config, BiFunction<Long, Instant, Envelope> signed) {
    return Ledger.nextIncarnation(
        config,
        (ledger, incarnation) -> {
          SystemState state = SystemState.read(ledger);
          Instant at =
              new SteadyTime(config.clock(), () -> 0, state::clockLimits, ledger.highWater())
                  .nowOrLatest(KernelTime.Reading.CHANGE);
          Envelope change = signed.apply(incarnation, at);
          state.with(change, EventKind.LEDGER_INCARNATED, at);
          Event head = ledger.head(SystemState.RUN).orElseThrow();
          return new Batch()
              .document(change)
              .event(head.next(EventKind.LEDGER_INCARNATED, change.id(), at, Optional.empty()));
        });
  }

  /**
   * Executes an intent: the second of two steps.
   *
   * @param order the holder's signed {@link ExecutionOrder}, which names the intent
   * @throws WritException {@code EXE-1xx} to {@code 3xx}
   */
  public Served execute(Envelope decision, Envelope intent, Envelope order) {
    return path.execute(decision, intent, order);
  }

  /**
   * Applies a signed approval or rejection and judges the pending request again. An allowed request
   * is executed when its holder submits it again.
   *
   * @throws WritException {@code EXE-908} where the request does not wait, {@code GRD-6xx}
   */
  public Answer approve(Envelope approvalEnvelope) {
    return gate.whileCurrent(() -> path.approve(approvalEnvelope));
  }

  /**
   * Applies an operator's signed resolution of an IN_DOUBT receipt (protocol rule 18).
   *
   * @throws WritException {@code CAN-023} for a note that is not one line, which logs of before may
   *     have; {@code EXE-905}, {@code EXE-909}, {@code EXE-910}
   */
  public void resolve(Envelope resolution) {
    gate.whileCurrent(() -> {
      SystemState state = system();
      try (KeyedLocks.Held _ = kept.own(resolution)) {
        administration.resolve(
            resolution, state.trust(), inForce.under(state), Resolution::requireShownNote);
        return resolution;
      }
    });
  }

  /**
   * Closes a run for its opener; the checkpoint covers all of it (protocol rules 19 and 29), and
   * its workspace is wiped; drivers are told.
   *
   * @throws WritException {@code EXE-90x} where it is not closed; {@code EXE-913} where it is, with
   *     its checkpoint, and the wipe is left for the next start
   */
  public Checkpoint closeRun(Envelope close) {
    gate.requireKnown(RunClose.read(close.document()).tenant());
    RunId run =
        gate.whileCurrent(() -> {
          SystemState state = system();
          ownKeys.require(state.trust(), time.latest());
          try (KeyedLocks.Held _ = kept.own(close)) {
            return closings.close(
                close,
                state.trust(),
                state.policyInForce(),
                inForce.under(state),
                this::requireLogKey);
          }
        });
    Checkpoint checkpoint = RunClosings.seal(ledger, this::checkpoint, run);
    tools.closed(run.tenant(), run.run());
    wipes.wipe(run);
    closeThere(run);
    return checkpoint;
  }

  /**
   * Nothing follows from the executor's run being closed but that it serves nothing more in it,
   * which it is not asked for any more anyway.
   */
  private void closeThere(RunId run) {
    if (apart.isPresent()) {
      try {
        apart.get().close(run);
      } catch (WritException e) {
        return;
      }
    }
  }

  /** Makes up for what follows the closing of a run: its checkpoint, and the wipe. */
  void sealed(RunId run) {
    seal();
    tools.closed(run.tenant(), run.run());
    wipes.wipe(run);
  }

  /** The digest of a run's workspace. */
  Digest treeDigest(String tenant, String run) {
    return workspaces.treeDigest(tenant, run);
  }

  /** Closed runs whose workspace could not be wiped so far. */
  public List<RunId> notWiped() {
    return wipes.left();
  }

  /**
   * Activates a policy signed by its owner; decisions under the old one are refused from then on.
   */
  public void activate(Envelope signedPolicy) {
    cell.requireSystem();
    try (KeyedLocks.Held _ = kept.own(signedPolicy)) {
      inForce.change(state -> administration.activate(signedPolicy, state));
    }
    carryChange();
    cell.changed();
  }

  /**
   * Takes a statement of any kind that the installation's system cell has, in the order of that
   * one.
   *
   * @throws WritException with the code of the failed check; nothing is written then
   */
  public void follow(Envelope statement) {
    try (KeyedLocks.Held _ = kept.own(statement)) {
      inForce.change(state -> administration.apply(statement, state));
    }
    contents.beginErasure(statement);
    changed.run();
  }

  /** So that a prohibition ends what runs there; the next order carries it over otherwise. */
  private void carryChange() {
    try {
      apart.ifPresent(ApartGuardian::carrySystem);
    } catch (WritException e) {
      return;
    }
  }

  /** Tells the listener that the system run has changed. */
  void tellChanged() {
    changed.run();
  }

  /**
   * Takes an operator's {@link dev.writ.executor.document.SystemChange}, a publisher's {@link
   * dev.writ.executor.document.ToolSubmission} or an approver's {@link
   * dev.writ.executor.document.ToolApproval}; it holds at once.
   *
   * @throws WritException with the code of the failed check; nothing is written then
   */
  public void change(Envelope systemChange) {
    cell.requireSystem();
    try (KeyedLocks.Held _ = kept.own(systemChange)) {
      inForce.change(state -> {
        contents.requireErasable(systemChange, state);
        requirePlaceable(systemChange);
        return administration.change(systemChange, state);
      });
    }
    contents.beginErasure(systemChange);
    carryChange();
    changed.run();
    cell.changed();
    if (ContentOperations.erasure(systemChange).isPresent()) {
      eraseNow();
    }
  }

  private void requirePlaceable(Envelope signed) {
    if (!signed.payloadType().equals(SystemChange.TYPE)) {
      return;
    }
    SystemChange change = SystemChange.read(signed.document());
    if (change.kind().equals(EventKind.TENANT_PLACED)) {
      cell.requireCell(TenantPlace.read(change.detail()).cell());
    } else if (change.kind().equals(EventKind.TENANT_MOVED)) {
      moves.requireMovable(TenantMove.read(change.detail()));
    } else if (change.kind().equals(EventKind.CELL_PLACED)) {
      cell.requireCell(CellRegions.read(change.detail()).cell());
    }
  }

  /** The order holds, whatever this comes to: what is left is carried out later. */
  private void eraseNow() {
    try {
      contents.erase(now());
    } catch (WritException e) {
      return;
    }
  }

  private void cover(RunId run) {
    long covered = ledger.latestCheckpoint().map(Checkpoint::size).orElse(0L);
    ledger
        .head(run)
        .filter(last -> ledger.indexOf(run, last.seq()).orElseThrow() >= covered)
        .ifPresent(_ -> checkpoint());
  }

  /**
   * Has the log state that a person is about to read something, as far as policy's section {@code
   * reads} asks for that, and returns when it is durable (spec/read-event.md).
   *
   * @throws WritException {@code EXE-912}, {@code EXE-98x}, {@code LED-02x}: then nothing may be
   *     handed out
   */
  public void recordRead(ReadLog.Look look) {
    inForce
        .during(state -> reads.state(look, state.policyInForce(), this::now))
        .ifPresent(ReadLog.Stated::await);
  }

  /** Uploads, orders of erasure, retention and the archive. */
  public ContentOperations contents() {
    return contents;
  }

  /** Why requests were judged as they were, or would be. */
  public Explanations explanations() {
    return explanations;
  }

  /** What the owner of a cell does beside requests. */
  public CellOperations cells() {
    return cells;
  }

  /** Rows on which no decision, document or event depends. */
  public AuxiliaryRows auxiliary() {
    return auxiliary;
  }

  /** Who may read and name what. */
  public ReadAccess access() {
    return access;
  }

  private BlobRef write(byte[] content, ContentClass as, Scope scope) {
    Optional<ContentOwner> owner = Sealing.owner(system().policyInForce(), as, scope);
    try (BlobSink sink = ledger.newBlob(owner)) {
      sink.write(content);
      return sink.finish();
    } catch (IOException e) {
      throw StoreFailure.of(e);
    }
  }

  /** A receipt that the tenant may see; an unknown and a foreign id answer alike. */
  public Served receipt(String tenant, Digest id) {
    Served served = idempotency.receipt(id);
    if (!served.receipt().scope().tenant().equals(tenant)) {
      throw new WritException(ExecutorError.UNKNOWN_ID, id.toString());
    }
    return served;
  }

  /**
   * A checkpoint over everything that is in the log.
   *
   * @throws WritException {@code EXE-912} where the log's key is not in force at its last event, so
   *     that no verifier would take what it signs
   */
  public Checkpoint checkpoint() {
    requireLogKey(time.latest());
    Checkpoint checkpoint = ledger.checkpoint();
    long last = checkpoint.size() - 1;
    ledger.eventsByIndex(last, last + 1, (_, event) -> requireLogKey(event.at()));
    return checkpoint;
  }

  /**
   * The root of the checkpoint of the least size that covers so many events and is signed by the
   * log's present key, signed for receipts of COSE. Where there is none, one is made.
   *
   * @throws WritException {@code EXE-912} where the log's key is not in force
   */
  public SignedRoot signedRoot(long size) {
    requireLogKey(time.latest());
    // A checkpoint that an earlier key signed is no reason for this one to sign that root.
    return ledger
        .checkpointCovering(size)
        .flatMap(ledger::signed)
        .or(() -> ledger.signed(checkpoint()))
        .orElseThrow(
            () -> new WritException(ExecutorError.OWN_KEY, "the log's key is being exchanged"));
  }

  private void requireLogKey(Instant at) {
    ownKeys.requireOwnLog(system().trust(), ledger.logKid(), at);
  }

  /** Keys, policy and prohibited tools in force. */
  public SystemState system() {
    return inForce.now();
  }

  /** Monotonic time, for repeated checks; setting the clock does not change it. */
  public InstantSource passed() {
    return () -> Instant.ofEpochSecond(0, elapsed.getAsLong());
  }

  /** One reading of the kernel's clock; nothing is dated before it from then on. */
  public Instant now() {
    return time.now(KernelTime.Reading.OUTSIDE);
  }

  /** The same for what nothing is dated by. */
  public Instant look() {
    return time.look();
  }

  public LedgerView ledger() {
    return ledger;
  }

  /**
   * What the accounts of a tenant's budgets hold now, under the policy in force; reserves nothing.
   */
  public List<JudgeInputs.Balance> balances(String tenant) {
    return accounts.balances(system().policyInForce(), tenant, now());
  }

  /** For tests. */
  Accounts accounts() {
    return accounts;
  }

  private boolean readable(Request request, List<String> charged, Input input) {
    String tenant = request.scope().tenant();
    return TenantContents.has(ledger, tenant, input.digest())
        && ledger.hasBlob(input.digest())
        && access.mayName(request, charged, input.digest())
        && ledger.blobSize(input.digest()) == input.size();
  }

  /**
   * Ownership of a receipt is checked when a request is new; a pending one may be finished later.
   */
  private void requireConsumable(Admitted admitted, Digest id) {
    Request request = admitted.request();
    Judging.requireConsumable(ledger, request, id);
    if (path.row(admitted.id()).isPresent()) {
      return;
    }
    Scope scope = Receipt.read(ledger.document(id).orElseThrow().document()).scope();
    if (!access.mayRead(access.who(request, admitted.charged()), scope)) {
      throw new WritException(ExecutorError.CONSUMED_UNKNOWN, id.toString());
    }
  }
}
