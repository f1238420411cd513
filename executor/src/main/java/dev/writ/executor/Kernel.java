package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.apart.RemoteExecutor;
import dev.writ.executor.document.CellCheckpoints;
import dev.writ.executor.document.CellRegions;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.document.ErasureOrder;
import dev.writ.executor.document.ExecutionOrder;
import dev.writ.executor.document.LegalHold;
import dev.writ.executor.document.RunClose;
import dev.writ.executor.document.SystemChange;
import dev.writ.executor.document.TenantMove;
import dev.writ.executor.document.TenantPlace;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.PendingWrites;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.journal.TenantContents;
import dev.writ.executor.reads.ReadLog;
import dev.writ.executor.retention.ArchivedBundle;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.executor.retention.ContentRetention;
import dev.writ.executor.retention.RetentionPlan;
import dev.writ.executor.retention.Sealing;
import dev.writ.executor.stage.Gate;
import dev.writ.executor.stage.Idempotency;
import dev.writ.executor.stage.IntentSubmission;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.Stage;
import dev.writ.executor.stage.StageObserver;
import dev.writ.executor.stage.Surroundings;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.Accounts;
import dev.writ.guardian.Admission;
import dev.writ.guardian.Admitted;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.PolicyExplain;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Audience;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Guidance;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.ClockLimits;
import dev.writ.guardian.policy.ContentClass;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.StorageLimits;
import dev.writ.ledger.Batch;
import dev.writ.ledger.BlobRef;
import dev.writ.ledger.BlobSink;
import dev.writ.ledger.Checkpoint;
import dev.writ.ledger.Commit;
import dev.writ.ledger.CommitObserver;
import dev.writ.ledger.Event;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.RunId;
import dev.writ.ledger.SignedRoot;
import dev.writ.ledger.StorageUse;
import dev.writ.ledger.seal.ContentOwner;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * Guardian and SafeExecutor over one ledger: the one pipeline that every surface goes through.
 * Thread safe. Opening it recovers what a crash left behind.
 */
public final class Kernel {
  /** How many changes of the state one piece of work survives before it is refused. */
  private static final int ATTEMPTS_MAX = 16;

  /** How many uploads one collection examines at most. */
  private static final int COLLECTED_MAX = 10_000;

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
  private final Judging judging;
  private final Administration administration;
  private final RunClosings closings;
  private final Recovery recovery;
  private final OwnKeys ownKeys;
  private final InForce inForce;
  private final SharedVerification signatures = new SharedVerification();
  private final Admissions admissions;
  private final Evidence kept;
  private final Watch stages = new Watch();
  private final Access access;
  private final ContentRetention retention;
  private volatile ArchivedContents archived = ArchivedContents.NONE;
  private final ReadLog reads;
  private final CellRoots roots;
  private final TenantWork work = new TenantWork();
  private final TenantMoves moves;
  private final Optional<ApartGuardian> apart;
  private final RunWorkspaces workspaces;
  private volatile Runnable changed = () -> {};
  private volatile Consumer<ContentRetention.Deleted> rulesApplied = _ -> {};
  private volatile CellRules cell = CellRules.ALONE;

  private Kernel(
      KernelConfig config, UnaryOperator<SafeExecutor> seam, Optional<RemoteExecutor> elsewhere) {
    this.ledger = config.ledger();
    this.elapsed = config.elapsed();
    this.inForce = new InForce(SystemState.read(ledger));
    this.access = new Access(ledger, this::system);
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
                executing, ledger, time, this::system, this::write, this::receiptStage));
    this.workspaces = apart.<RunWorkspaces>map(a -> a).orElse(config.workspaces());
    this.wipes = new WorkspaceWipes(ledger, workspaces, locks);
    this.admissions = new Admissions(ledger, time, inForce, signatures);
    this.kept = new Evidence(ledger, locks);
    this.ownKeys = new OwnKeys(config.guardianKey(), config.executorKey());
    Parts parts =
        Parts.of(
            surroundings(config),
            stages -> apart.map(stages::with).map(seam).orElseGet(() -> seam.apply(stages)));
    this.retention = new ContentRetention(ledger, guarded(KeyRole.EXECUTOR));
    this.reads = new ReadLog(ledger, guarded(KeyRole.EXECUTOR));
    this.roots = new CellRoots(ledger, guarded(KeyRole.GUARDIAN));
    this.moves =
        new TenantMoves(
            ledger, accounts, guarded(KeyRole.GUARDIAN), time, inForce, work, () -> cell);
    this.runs = parts.runs();
    this.idempotency = parts.idempotency();
    this.executor = parts.executor();
    this.judging = parts.judging();
    this.administration = parts.administration();
    this.closings = parts.closings();
    this.recovery = parts.recovery();
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
    OwnKeys.require(system().trust(), role, key.kid(), time.latest());
    if (role == KeyRole.LOG) {
      ledger.signWith(key);
    } else {
      ownKeys.exchange(role, key);
    }
  }

  /**
   * Requires that the keys are in force with which decisions, intents and receipts are signed:
   * without them nothing is judged or executed.
   *
   * @throws WritException {@code EXE-912}
   */
  public void requireKeys() {
    ownKeys.require(system().trust(), time.latest());
  }

  /** Registers what is told of each change of the system run, after it is in force and durable. */
  public void whenChanged(Runnable listener) {
    changed = listener;
  }

  /** Registers what is told of each application of the rules of retention, whoever had it. */
  public void whenRulesApplied(Consumer<ContentRetention.Deleted> listener) {
    rulesApplied = listener;
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
    InForce inForce = new InForce(SystemState.read(ledger));
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
    GuardedLog log = new GuardedLog(config.ledger(), guarded);
    Kernel kernel =
        opened(
            new Kernel(config, stages -> stages.with(new Gate(log::audience)), Optional.empty()));
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
   * Where the executor is another process: asks it for the receipts that this log still lacks. What
   * it does not tell is asked for again with the next call, and by whoever sends the request again.
   *
   * @return how many are left
   */
  public int settleAwaited() {
    int left = 0;
    for (DispatchedRow row : apart.map(ApartGuardian::dispatched).orElse(List.of())) {
      left += settledIfFree(row) ? 0 : 1;
    }
    return left;
  }

  /** Whose request or run somebody works on is left to them. */
  private boolean settledIfFree(DispatchedRow row) {
    Digest request = Intent.read(ledger.document(row.intent()).orElseThrow().document()).request();
    Optional<KeyedLocks.Held> own = locks.ifFree(Tables.key("request", request.hex()));
    if (own.isEmpty()) {
      return false;
    }
    try (KeyedLocks.Held _ = own.get();
        Runs.Borrowed run = runs.borrow(row.run())) {
      Optional<KeyedLocks.Held> workspace = wipes.lockIfFree(row.run());
      if (workspace.isEmpty()) {
        return false;
      }
      try (KeyedLocks.Held _ = workspace.get()) {
        settleAwaited(request, run); // it takes this lock once more, which it may
        return true;
      }
    } catch (WritException e) {
      return false;
    }
  }

  /** Another request may have the key of this one, and its receipt be awaited. */
  private void settleSameKey(Request request, Digest id) {
    if (apart.isPresent()) {
      ledger
          .get(Tables.IDEMPOTENCY, ReceiptStage.idempotencyKey(request, id))
          .map(Digest::ofBytes)
          .filter(first -> !first.equals(id))
          .flatMap(first -> ledger.get(Tables.DISPATCHED, Tables.key(first)))
          .map(DispatchedRow::parse)
          .ifPresent(this::settledIfFree);
    }
  }

  /** The request's lock is held, so that nobody else waits for its end. */
  private void settleAwaited(Digest request, Runs.Borrowed run) {
    if (apart.isEmpty() || ledger.get(Tables.DISPATCHED, Tables.key(request)).isEmpty()) {
      return;
    }
    try (KeyedLocks.Held _ = wipes.lock(run.id().tenant(), run.id().run())) {
      Optional<DispatchedRow> row =
          ledger.get(Tables.DISPATCHED, Tables.key(request)).map(DispatchedRow::parse);
      if (row.isPresent()) { // else another effect of the run had it settled
        apart.get().settle(row.get(), run);
      }
    }
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
    return process(() -> request, evidence, Optional.empty(), EXECUTE);
  }

  /** The same for the bytes of a signed request, which are parsed only if policy allows so many. */
  public Answer submit(byte[] request, List<Envelope> evidence) {
    return process(() -> parsed(request), evidence, Optional.empty(), EXECUTE);
  }

  /**
   * The same for a request that a surface with a profile vouches for.
   *
   * @param raw the surface's raw request, whose digest the request's origin names; it is read by
   *     the profile and not kept
   * @throws WritException also {@code GRD-701} where it is another one
   */
  public Answer submit(Envelope request, List<Envelope> evidence, Optional<byte[]> raw) {
    return process(() -> request, evidence, raw, EXECUTE);
  }

  /** Judges a request only: the first of two steps. */
  public Answer decide(Envelope request, List<Envelope> evidence) {
    return process(() -> request, evidence, Optional.empty(), DECIDE);
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
    return process(
        () -> request, List.of(), Optional.empty(), new Wanted(true, false, Optional.of(why)));
  }

  /** The same for the bytes of a signed request. */
  public Answer decide(byte[] request, List<Envelope> evidence) {
    return process(() -> parsed(request), evidence, Optional.empty(), DECIDE);
  }

  private Envelope parsed(byte[] request) {
    return Admission.parse(request, system().policyInForce());
  }

  private Answer process(
      Supplier<Envelope> request, List<Envelope> evidence, Optional<byte[]> raw, Wanted wanted) {
    try (SharedVerification.Presence _ = signatures.enter()) {
      Admissions.Entry entry = admission(() -> admissions.enter(request.get()));
      String tenant = entry.request().scope().tenant();
      requireKnown(tenant);
      try (TenantWork.UnderWay _ = work.begin(tenant)) {
        return whileCurrent(() -> process(entry, evidence, raw, wanted));
      } finally {
        summaries.writeIfDue();
      }
    }
  }

  /** Refuses a tenant that never was in this cell: its work has no place here. */
  private void requireKnown(String tenant) {
    if (!moves.isKnown(tenant)) {
      cell.requireTenant(tenant);
    }
  }

  /**
   * Refuses work of a tenant that is not in this cell, or has not arrived in it.
   *
   * @throws WritException {@code EXE-990}, {@code EXE-967}
   */
  private void requireHere(String tenant) {
    cell.requireTenant(tenant);
    moves.requireArrived(tenant);
  }

  /** Whether the tool of an effect, as it is registered now, uses the workspace of its run. */
  public boolean usesWorkspace(Effect effect) {
    return tools.usesWorkspace(effect);
  }

  private Answer process(
      Admissions.Entry before, List<Envelope> brought, Optional<byte[]> raw, Wanted wanted) {
    Request request = before.request();
    RunId runId = new RunId(request.scope().tenant(), request.scope().run());
    try (Ledger.Pin _ = ledger.pin(inputs(request)); // protects blobs until documents name them
        KeyedLocks.Held _ = turn(() -> lockRequest(before.id()));
        KeyedLocks.Held _ = turn(() -> lockKey(request, before.id()));
        Runs.Borrowed run = runs.borrow(runId)) {
      ledger.pendingHead(runId); // refuses before judging if the ledger has stopped
      Optional<RequestRow> row = row(before.id()); // only who has its lock changes it
      Admissions.Entry entry = readmitIfChanged(before, row);
      settleAwaited(entry.id(), run);
      settleSameKey(request, entry.id());
      Optional<Answer> answered = answered(entry, row, wanted.execute());
      if (answered.isPresent()) {
        return answered.get();
      }
      requireHere(runId.tenant());
      Optional<Answer> former = row.isPresent() ? Optional.empty() : former(entry, wanted);
      if (former.isPresent()) {
        return former.get();
      }
      entry.require();
      boolean workspace = wanted.dispatch() && isAlone(request.effect());
      try (Evidence.Kept evidence = kept.keep(entry, brought);
          KeyedLocks.Held _ = workspace ? turn(() -> lockWorkspace(request)) : KeyedLocks.NONE) {
        return judgeAndExecute(
            readmitIfChanged(entry, row),
            row,
            evidence.documents(),
            raw,
            run,
            wanted.holding(workspace));
      }
    }
  }

  /** The outcome that a former cell of the tenant has: as there, its holder alone gets it. */
  private Optional<Answer> former(Admissions.Entry entry, Wanted wanted) {
    return moves
        .former(entry.request().scope().tenant())
        .outcome(entry, wanted.execute())
        .map(found -> {
          Answer known = found.answer();
          if (known.request().equals(entry.id())) {
            requireHolder(known, entry, found.isStored());
          }
          return known
              .served()
              .map(served -> known.withServed(asMayBeRead(served, known, entry)))
              .orElse(known);
        });
  }

  /**
   * Whether it is the only effect of its run while it is at work: it uses the run's workspace, or
   * its receipt is chained in another process.
   */
  private boolean isAlone(Effect effect) {
    return apart.isPresent() || tools.usesWorkspace(effect);
  }

  private static List<Digest> inputs(Request request) {
    return request.effect().inputs().stream().map(Input::digest).toList();
  }

  /**
   * The same, in a cell that has seen what is in force.
   *
   * @throws WritException {@code EXE-970}, {@code EXE-991}
   */
  private <T> T whileCurrent(Supplier<T> work) {
    cell.requireCurrent();
    return unlessMoved(work);
  }

  /**
   * Runs work whose writes must stand in the log before the next change of the state, and runs it
   * again if a change came first.
   *
   * @throws WritException {@code EXE-970} after {@link #ATTEMPTS_MAX} changes
   */
  static <T> T unlessMoved(Supplier<T> work) {
    for (int attempt = 1; ; attempt++) {
      try {
        return work.get();
      } catch (WritException e) {
        if (e.code() != ExecutorError.STATE_MOVED || attempt == ATTEMPTS_MAX) {
          throw e;
        }
      }
    }
  }

  private static final Wanted DECIDE = new Wanted(false, false, Optional.empty());
  private static final Wanted EXECUTE = new Wanted(true, false, Optional.empty());

  /**
   * What is wanted of a request.
   *
   * @param givenUp why it is not to be dispatched, though it is allowed
   */
  private record Wanted(boolean execute, boolean holdsWorkspace, Optional<WritException> givenUp) {
    boolean dispatch() {
      return execute && givenUp.isEmpty();
    }

    Wanted holding(boolean workspace) {
      return new Wanted(execute, workspace, givenUp);
    }
  }

  /** Judges and executes a request that has no outcome yet. */
  private Answer judgeAndExecute(
      Admissions.Entry entry,
      Optional<RequestRow> row,
      List<Envelope> evidence,
      Optional<byte[]> raw,
      Runs.Borrowed run,
      Wanted wanted) {
    Trust trust = entry.state().trust();
    Policy policy = entry.state().policyInForce();
    Admitted admitted = entry.require();
    ownKeys.require(trust, time.latest());
    if (row.filter(r -> judging.live(r, trust, policy)).isPresent()) {
      Answer known = known(admitted.id(), row.get());
      return wanted.execute() && known.intent().isPresent()
          ? serve(known, admitted, PendingWrites.NOTHING, run, wanted, entry.state())
          : known;
    }
    if (row.isEmpty()) {
      if (ledger.pendingHead(run.id()).isEmpty()) {
        moves.former(run.id().tenant()).requireNewRun(run.id());
      }
      judging.requireOwnRun(admitted, run, policy);
    }
    Judging.Judged judged =
        StageObserver.during(
            stages,
            Stage.JUDGEMENT,
            () -> judging.judge(admitted, row, List.of(), evidence, raw, run, trust, policy));
    if (!wanted.execute() || judged.answer().intent().isEmpty()) {
      StageObserver.during(
          stages, Stage.DECISION, () -> judging.commit(judged, run, inForce.under(entry.state())));
      return judged.answer();
    }
    try {
      return serve(judged.answer(), admitted, judged.pendingWrites(), run, wanted, entry.state());
    } finally {
      judging.releaseIfNotEnqueued(judged);
    }
  }

  private Answer serve(
      Answer answer,
      Admitted admitted,
      PendingWrites pendingWrites,
      Runs.Borrowed run,
      Wanted wanted,
      SystemState state) {
    Served served =
        executor.serve(
            new IntentSubmission(
                Optional.of(answer.decisionEnvelope()),
                answer.intent(),
                Optional.of(admitted.request()),
                admitted.holder(),
                pendingWrites,
                run,
                wanted.holdsWorkspace(),
                inForce.under(state),
                wanted.givenUp()),
            state.trust(),
            state.policyInForce());
    return answer.withServed(served);
  }

  private Admissions.Entry admission(Supplier<Admissions.Entry> work) {
    return StageObserver.during(stages, Stage.ADMISSION, work);
  }

  /** Admits the request again if keys, policy or its row changed while it waited for locks. */
  private Admissions.Entry readmitIfChanged(Admissions.Entry before, Optional<RequestRow> row) {
    return admissions.isCurrent(before, row)
        ? before
        : admission(() -> admissions.enter(before.envelope()));
  }

  private KeyedLocks.Held turn(Supplier<KeyedLocks.Held> lock) {
    return StageObserver.during(stages, Stage.TURN, lock);
  }

  /**
   * The stored outcome of the request, or of another one under its idempotency key: served, refused
   * or pending. It is returned unchanged, whatever policy is in force now.
   *
   * @throws WritException {@code EXE-106} for a key that is not the request's holder, {@code
   *     EXE-109} where it was dispatched and has no receipt, {@code EXE-110}
   */
  private Optional<Answer> answered(
      Admissions.Entry entry, Optional<RequestRow> row, boolean execute) {
    Optional<Served> served = Optional.empty();
    if (row.isPresent()) { // its row is written before the dispatch, or with it
      served = idempotency.served(entry.id());
      if (served.isEmpty()) {
        idempotency.requireNotRunning(entry.id());
      }
    }
    if (served.isEmpty() && execute) {
      served = idempotency.sameKey(entry.request(), entry.id(), entry.request().effect()::digest);
    }
    if (served.isPresent()) {
      Digest request = served.get().receipt().request();
      Answer known = known(request, row(request).orElseThrow());
      if (request.equals(entry.id())) {
        requireHolder(known, entry, entry.stored());
      }
      return Optional.of(known.withServed(asMayBeRead(served.get(), known, entry)));
    }
    boolean stands =
        row.filter(r ->
                switch (r.state()) {
                  case DENIED, PENDING -> true;
                  case ALLOWED -> !execute && entry.refused().isPresent();
                  case LAPSED -> false;
                })
            .isPresent();
    if (!stands) {
      return Optional.empty();
    }
    Answer known = known(entry.id(), row.get());
    requireHolder(known, entry, entry.stored());
    return Optional.of(known);
  }

  /** Only the holder gets the output, and only while the holder's key is in force. */
  private static Served asMayBeRead(Served served, Answer known, Admissions.Entry entry) {
    boolean revoked =
        entry
            .state()
            .trust()
            .key(known.decision().holder())
            .filter(key -> key.revokedAt().isEmpty())
            .isEmpty();
    return revoked && entry.refused().isPresent() ? served.withoutOutput() : served;
  }

  private static void requireHolder(Answer known, Admissions.Entry entry, boolean isStored) {
    boolean holds =
        isStored
            || entry
                .admitted()
                .filter(a -> a.holder().kid().equals(known.decision().holder()))
                .isPresent();
    if (!holds) {
      throw new WritException(ExecutorError.HOLDER, "of request " + known.request());
    }
  }

  /**
   * Explains how a request was judged, or how it would be judged now; writes and reserves nothing.
   */
  public PolicyExplain explain(byte[] request) {
    Admissions.Entry entry = admission(() -> admissions.enter(parsed(request)));
    SystemState state = entry.state();
    return judging.explain(entry.require(), row(entry.id()), state.trust(), state.policyInForce());
  }

  /**
   * What helps the caller of a request that was not allowed, or would not be if policy did not only
   * observe (spec/guidance.md); empty for any other, and for one that was never judged. Reads only.
   */
  public Optional<Guidance> guidance(Digest request) {
    return row(request)
        .flatMap(row -> ledger().document(row.decision()))
        .map(Envelope::document)
        .map(Decision::read)
        .flatMap(decision -> judging.guidance(request, decision, system()));
  }

  /** The same of an answer. */
  public Optional<Guidance> guidance(Answer answer) {
    return judging.guidance(answer.request(), answer.decision(), system());
  }

  /**
   * Why a request was judged as its latest decision says, by the policy and the inputs of that
   * decision; empty for one that was never judged. Reads only.
   */
  public Optional<PolicyExplain> explained(Digest request) {
    return row(request)
        .flatMap(row -> ledger().document(row.decision()))
        .map(Envelope::document)
        .map(Decision::read)
        .flatMap(decision -> judging.explained(request, decision, system()));
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
    system().trust().verify(order, ExecutionOrder.TYPE, time.now(KernelTime.Reading.ORDER));
    Intent read = Intent.read(intent.document());
    ExecutionOrder.read(order.document())
        .requireFor(intent.id(), read, time.now(KernelTime.Reading.ORDER));
    Optional<Request> request =
        ledger.hasDocument(read.request())
            ? Optional.of(idempotency.request(read.request()))
            : Optional.empty();
    if (request.isEmpty()) {
      throw new WritException(ExecutorError.NOT_ISSUED, intent.id().toString());
    }
    try (TenantWork.UnderWay _ = work.begin(read.scope().tenant())) {
      return whileCurrent(() -> execute(decision, intent, order, read, request.get()));
    }
  }

  private Served execute(
      Envelope decision, Envelope intent, Envelope order, Intent read, Request request) {
    RunId runId = new RunId(read.scope().tenant(), read.scope().run());
    try (KeyedLocks.Held _ = lockRequest(read.request());
        KeyedLocks.Held _ = lockKey(request, read.request());
        Runs.Borrowed run = settled(runId, read.request());
        KeyedLocks.Held workspace = lockUnlessServed(request, read.request())) {
      if (idempotency.served(read.request()).isEmpty()) {
        requireHere(runId.tenant());
      }
      SystemState now = system(); // it may have changed while the locks were waited for
      TrustedKey submitter =
          now.trust()
              .verify(order, ExecutionOrder.TYPE, time.now(KernelTime.Reading.ORDER))
              .getFirst();
      ownKeys.require(now.trust(), time.latest());
      return executor.serve(
          new IntentSubmission(
              Optional.of(decision),
              Optional.of(intent),
              Optional.of(request),
              submitter,
              PendingWrites.NOTHING,
              run,
              workspace != KeyedLocks.NONE,
              inForce.under(now),
              Optional.empty()),
          now.trust(),
          now.policyInForce());
    }
  }

  private Runs.Borrowed settled(RunId id, Digest request) {
    Runs.Borrowed run = runs.borrow(id);
    try {
      settleAwaited(request, run);
      return run;
    } catch (RuntimeException | Error e) {
      run.close();
      throw e;
    }
  }

  /**
   * Applies a signed approval or rejection and judges the pending request again. An allowed request
   * is executed when its holder submits it again.
   *
   * @throws WritException {@code EXE-908} where the request does not wait, {@code GRD-6xx}
   */
  public Answer approve(Envelope approvalEnvelope) {
    return whileCurrent(() -> approved(approvalEnvelope));
  }

  private Answer approved(Envelope approvalEnvelope) {
    Instant now = time.now(KernelTime.Reading.APPROVAL);
    List<TrustedKey> signers = system().trust().verify(approvalEnvelope, Approval.TYPE, now);
    Approval approval = Approval.read(approvalEnvelope.document());
    boolean ofTenant =
        signers.stream().allMatch(s -> s.tenant().filter(approval.tenant()::equals).isPresent());
    try (TenantWork.UnderWay _ = work.begin(approval.tenant());
        KeyedLocks.Held _ = lockRequest(approval.request())) {
      requireHere(approval.tenant());
      RequestRow row =
          row(approval.request())
              .filter(r -> ofTenant && r.run().tenant().equals(approval.tenant()))
              .orElseThrow(
                  () -> new WritException(ExecutorError.UNKNOWN_ID, approval.request().toString()));
      if (row.state() != RequestRow.State.PENDING) {
        throw new WritException(ExecutorError.NOT_PENDING, "request " + approval.request());
      }
      try (KeyedLocks.Held _ = kept.own(approvalEnvelope);
          Runs.Borrowed run = runs.borrow(row.run())) {
        SystemState state = system();
        ownKeys.require(state.trust(), time.latest());
        Optional<Judging.Judged> judged =
            judging.approve(approvalEnvelope, row, run, state.trust(), state.policyInForce(), now);
        judged.ifPresent(j -> judging.commit(j, run, inForce.under(state)));
        return judged.map(Judging.Judged::answer).orElseGet(() -> known(approval.request(), row));
      }
    }
  }

  /** Applies an operator's signed resolution of an IN_DOUBT receipt (protocol rule 18). */
  public void resolve(Envelope resolution) {
    whileCurrent(() -> {
      SystemState state = system();
      try (KeyedLocks.Held _ = kept.own(resolution)) {
        administration.resolve(resolution, state.trust(), inForce.under(state));
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
    requireKnown(RunClose.read(close.document()).tenant());
    RunId run =
        whileCurrent(() -> {
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
    beginErasure(statement);
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
        requireErasable(systemChange, state);
        requirePlaceable(systemChange);
        return administration.change(systemChange, state);
      });
    }
    beginErasure(systemChange);
    carryChange();
    changed.run();
    cell.changed();
    if (erasure(systemChange).isPresent()) {
      eraseNow();
    }
  }

  private static Optional<ErasureOrder> erasure(Envelope systemChange) {
    return Optional.of(systemChange)
        .filter(envelope -> envelope.payloadType().equals(SystemChange.TYPE))
        .map(envelope -> SystemChange.read(envelope.document()))
        .filter(change -> change.kind().equals(EventKind.CONTENTS_ERASED))
        .map(change -> ErasureOrder.read(change.detail()));
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

  /** Holds win, also where one keeps a single run of the subject. */
  private void requireErasable(Envelope systemChange, SystemState state) {
    Optional<ErasureOrder> order = erasure(systemChange);
    if (order.isEmpty()) {
      return;
    }
    if (apart.isPresent()) {
      throw new WritException(ExecutorError.ERASURE_APART, order.get().toString());
    }
    for (LegalHold hold : state.holds().values()) {
      if (hold.run().isPresent()
          && hold.tenant().equals(order.get().tenant())
          && hasRequestOf(new RunId(hold.tenant(), hold.run().get()), order.get())) {
        throw new WritException(
            ExecutorError.ERASURE_HELD,
            "the hold " + hold.name() + " keeps the run " + hold.run().get() + " of it");
      }
    }
  }

  private boolean hasRequestOf(RunId run, ErasureOrder order) {
    boolean[] found = {false};
    ledger.events(
        run,
        0,
        event -> {
          if (event.kind().equals(EventKind.REQUEST_RECEIVED)) {
            Request request = Request.read(ledger.document(event.body()).orElseThrow().document());
            found[0] |= order.covers(request.scope());
          }
        });
    return found[0];
  }

  /** What is stored from now on is not of the order. */
  private void beginErasure(Envelope systemChange) {
    if (erasure(systemChange).isPresent()) {
      retention.beginErasure(underState(system()), systemChange.id(), time.latest());
    }
  }

  /** The order holds, whatever this comes to: what is left is carried out later. */
  private void eraseNow() {
    try {
      erase(now());
    } catch (WritException e) {
      return;
    }
  }

  /**
   * Carries out the orders of erasure that are not, as far as nothing needs what they cover: the
   * statements are written, and the keys destroyed. A checkpoint covers the statements then.
   *
   * @param now the time of the events
   * @throws WritException {@code EXE-912}, {@code EXE-970}, {@code EXE-991}, {@code LED-098}
   */
  public ContentRetention.Erased erase(Instant now) {
    cell.requireCurrent(); // a hold may have been placed
    ContentRetention.Erased done = retention.erase(() -> deletingUnder(now), now);
    coverDeletions();
    return done;
  }

  private boolean isErasurePending() {
    return erasures().values().stream().anyMatch(Optional::isEmpty);
  }

  /** Orders of erasure, and when each was carried out; empty where it is not. */
  public SortedMap<Digest, Optional<Instant>> erasures() {
    TreeMap<Digest, Optional<Instant>> all = new TreeMap<>();
    system()
        .erasures()
        .keySet()
        .forEach(order -> all.put(order, ContentRetention.erasedAt(ledger, order)));
    return all;
  }

  private ContentRetention.Under underState(SystemState state) {
    return new ContentRetention.Under(
        state.policyInForce(), state::isHeld, inForce.under(state), state.erasures());
  }

  /** Puts content into a tenant's store, streamed, for everybody in it. */
  public Content put(String tenant, InputStream content, String mediaType) {
    return put(tenant, Tables.EVERYBODY, content, mediaType);
  }

  /**
   * The same for one subject: another one cannot name it by its digest. It counts against the
   * tenant's quota from its first byte, and is collected where no document comes to name it.
   *
   * @throws WritException {@code LED-080} where it is more than policy's {@code storage} allows,
   *     {@code EXE-990} where another cell has the tenant
   */
  public Content put(String tenant, String subject, InputStream content, String mediaType) {
    return put(tenant, subject, content, mediaType, Optional.empty());
  }

  /**
   * The same of a content whose digest the caller knows: sent again, as after an answer that was
   * lost, it is taken also where the quota is full.
   *
   * @param known the stream throws before its end where it has another digest
   */
  public Content put(
      String tenant,
      String subject,
      InputStream content,
      String mediaType,
      Optional<Digest> known) {
    cell.requireTenant(tenant);
    StorageLimits limits = system().policyInForce().storage();
    Optional<ContentOwner> owner = Sealing.ownerOfUpload(system().policyInForce(), tenant, subject);
    try (BlobSink sink = ledger.newUpload(tenant, limits.bytesMax(), owner, known)) {
      content.transferTo((OutputStream) sink);
      BlobRef blob = sink.finish();
      Instant at = time.now(KernelTime.Reading.OUTSIDE);
      ledger
          .append(
              new Batch()
                  .upload(tenant, blob, at)
                  .put(
                      Tables.HELD,
                      Tables.key(tenant, blob.digest().hex(), subject, ""),
                      new byte[0]))
          .await();
      return new Content(blob.digest(), blob.size(), mediaType);
    } catch (IOException e) {
      throw new WritException(ExecutorError.STORE_FAILED, e.getClass().getSimpleName(), e);
    }
  }

  /**
   * Removes uploads that no document names and that are older than policy's {@code storage} section
   * allows, and rows of accounts that are over.
   *
   * @param now the time by which their age is computed
   */
  public Ledger.Collected collect(Instant now) {
    summaries.deleteRowsThatAreOver();
    Instant before = now.minusSeconds(system().policyInForce().storage().unnamedS());
    return ledger.collect(before, COLLECTED_MAX, List.of(Tables.REFERENCE, Tables.HELD));
  }

  /**
   * Carries out orders of erasure, then deletes contents as policy's section {@code retention}
   * says, with a signed statement of each deletion, and removes their bytes from the disk. A
   * checkpoint covers the statements then, so that bundles can show them.
   *
   * @param now the time by which ages are computed; it is that of the events
   * @throws WritException {@code EXE-912}, {@code EXE-970}, {@code EXE-991}
   */
  public ContentRetention.Run retain(Instant now) {
    if (isErasurePending()) {
      erase(now);
    }
    cell.requireCurrent(); // a hold may have been placed
    ContentRetention.Run done = retention.run(() -> deletingUnder(now), now);
    rulesApplied.accept(done.deleted());
    coverDeletions();
    return done;
  }

  /** Where contents of archived runs are read. */
  public ArchivedContents archivedContents() {
    return archived;
  }

  /** Has contents of archived runs be read there. */
  public void readArchived(ArchivedContents contents) {
    archived = contents;
  }

  /**
   * Removes contents of closed runs that the archive has, with signed statements of it. A
   * checkpoint covers the statements then, so that bundles can show them.
   *
   * @param bundles of the runs that are being archived: each was read back and verified
   * @param earlier the same of a run that was archived before
   * @param now the time of the events
   * @throws WritException {@code EXE-940}, {@code EXE-912}, {@code EXE-970}, {@code EXE-991}
   */
  public ContentRetention.Deleted archive(
      SortedMap<RunId, ArchivedBundle> bundles,
      Function<RunId, ArchivedBundle> earlier,
      Instant now) {
    cell.requireCurrent(); // a hold may have been placed
    ContentRetention.Deleted done =
        retention.archive(() -> deletingUnder(now), bundles, earlier, now);
    coverDeletions();
    return done;
  }

  /** What is in force, if this kernel may sign statements of deletion under it. */
  private ContentRetention.Under deletingUnder(Instant now) {
    SystemState state = system();
    ownKeys.require(state.trust(), now);
    return underState(state);
  }

  /** Makes the checkpoint over the statements, also over those of a run that did not come to it. */
  private void coverDeletions() {
    cover(Deletion.RUN);
  }

  private void cover(RunId run) {
    long covered = ledger.latestCheckpoint().map(Checkpoint::size).orElse(0L);
    ledger
        .head(run)
        .filter(last -> ledger.indexOf(run, last.seq()).orElseThrow() >= covered)
        .ifPresent(_ -> checkpoint());
  }

  /** What {@link #retain} would delete; changes nothing. */
  public RetentionPlan planRetention(Instant now) {
    SystemState state = system();
    return ContentRetention.plan(ledger, state.policyInForce(), state::isHeld, now);
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

  /**
   * States in the system cell's log how far the other cells' logs are, where that has changed, and
   * makes a checkpoint over it: one root for the installation (spec/cells.md, "One root").
   *
   * @param logs of the other cells, by number, as they are now
   * @throws WritException {@code EXE-912}, {@code EXE-992}, {@code LED-02x}
   */
  public CellsStated stateCells(SortedMap<Integer, ? extends LedgerView> logs) {
    cell.requireSystem();
    SystemState state = system();
    CellRoots.Found found = roots.look(logs, state.trust());
    Optional<Commit> commit =
        inForce.during(now ->
            // Under other keys they are looked at again, at the next turn.
            now == state ? roots.state(found, this::now) : Optional.<Commit>empty());
    commit.ifPresent(Commit::await);
    cover(CellCheckpoints.RUN);
    return new CellsStated(commit.isPresent(), found.refused());
  }

  /**
   * Requires that a cell's log continues what the system cell has stated of it.
   *
   * @param system the system cell's
   * @throws WritException {@code EXE-994}, {@code EXE-995}
   */
  public static void requireStated(LedgerView system, LedgerView log, int cell) {
    CellRoots.last(system)
        .flatMap(stated -> stated.of(cell))
        .ifPresent(stated -> CellRoots.requireContinued(log, stated));
  }

  /**
   * Goes on with the moves of tenants from this cell and to it (spec/cells.md, "Moving"): to be
   * called again and again by whoever owns it.
   */
  public TenantsMoved moveTenants() {
    cell.requireCurrent();
    return moves.goOn();
  }

  /** Whether the tenant is in this cell by the latest statement, or was before. */
  public boolean isKnownHere(String tenant) {
    return moves.isKnown(tenant);
  }

  /**
   * Whether a tenant has arrived, by that statement of an operator, in the cell of that log.
   *
   * @param statement the id of the signed document
   */
  public static boolean hasArrived(LedgerView log, Digest statement) {
    return TenantMoves.hasArrived(log, statement);
  }

  /** What each tenant has put into the store. */
  public SortedMap<String, StorageUse> storageUse() {
    return ledger.storageUse();
  }

  /**
   * Saves how far a sink is, and returns when that is durable. No decision, document or event
   * depends on it.
   */
  public void saveSink(String name, byte[] row) {
    ledger.append(new Batch().put(Tables.SINK, name, row)).await();
  }

  /**
   * Saves that a signature was accepted, and returns when that is durable.
   *
   * @param key in {@link Tables#SIGNATURE}
   * @param over keys of earlier ones whose time is over; they are removed
   */
  public void saveSignature(String key, List<String> over) {
    Batch batch = new Batch().put(Tables.SIGNATURE, key, new byte[0]);
    over.forEach(old -> batch.delete(Tables.SIGNATURE, old));
    ledger.append(batch).await();
  }

  /** The same for a record that a sink gave up on, or is to send again; absent to remove it. */
  public void saveDeadLetter(String key, Optional<byte[]> row) {
    Batch batch = new Batch();
    row.ifPresentOrElse(
        bytes -> batch.put(Tables.DEAD_LETTER, key, bytes),
        () -> batch.delete(Tables.DEAD_LETTER, key));
    ledger.append(batch).await();
  }

  /** Who may read and name what. */
  public Access access() {
    return access;
  }

  /** What one tenant has put into the store. */
  public StorageUse storageUse(String tenant) {
    return ledger.storageUse().getOrDefault(tenant, StorageUse.NONE);
  }

  private BlobRef write(byte[] content, ContentClass as, Scope scope) {
    Optional<ContentOwner> owner = Sealing.owner(system().policyInForce(), as, scope);
    try (BlobSink sink = ledger.newBlob(owner)) {
      sink.write(content);
      return sink.finish();
    } catch (IOException e) {
      throw new WritException(ExecutorError.STORE_FAILED, e.getClass().getSimpleName(), e);
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

  /** One reading of the kernel's clock. */
  public Instant now() {
    return time.now(KernelTime.Reading.OUTSIDE);
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

  private Answer known(Digest request, RequestRow row) {
    return judging.known(request, row);
  }

  private Optional<RequestRow> row(Digest request) {
    return ledger.get(Tables.REQUEST, Tables.key(request)).map(RequestRow::parse);
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
    if (row(admitted.id()).isPresent()) {
      return;
    }
    Scope scope = Receipt.read(ledger.document(id).orElseThrow().document()).scope();
    if (!access.mayRead(access.who(request, admitted.charged()), scope)) {
      throw new WritException(ExecutorError.CONSUMED_UNKNOWN, id.toString());
    }
  }

  private KeyedLocks.Held lockRequest(Digest request) {
    return locks.lock(Tables.key("request", request.hex()));
  }

  private KeyedLocks.Held lockWorkspace(Request request) {
    return wipes.lock(request.scope().tenant(), request.scope().run());
  }

  /** A stored outcome is returned without waiting for the workspace. */
  private KeyedLocks.Held lockUnlessServed(Request request, Digest id) {
    return idempotency.served(id).isEmpty() && isAlone(request.effect())
        ? lockWorkspace(request)
        : KeyedLocks.NONE;
  }

  private KeyedLocks.Held lockKey(Request request, Digest id) {
    return locks.lock(Tables.key("idempotency", ReceiptStage.idempotencyKey(request, id)));
  }
}
