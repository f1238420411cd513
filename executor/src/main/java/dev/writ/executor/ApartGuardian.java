package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.DocumentSigner.Signed;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.Limits;
import dev.writ.executor.apart.ApartOrder;
import dev.writ.executor.apart.CarriedEvents;
import dev.writ.executor.apart.ChainEnd;
import dev.writ.executor.apart.OrderEnded;
import dev.writ.executor.apart.OrderPrepared;
import dev.writ.executor.apart.RemoteExecutor;
import dev.writ.executor.apart.RunKnown;
import dev.writ.executor.apart.SystemHead;
import dev.writ.executor.document.RunClosing;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.EventKind;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.RunTurn;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.stage.Dispatch;
import dev.writ.executor.stage.Elsewhere;
import dev.writ.executor.stage.KernelTime;
import dev.writ.executor.stage.Preflight.Order;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Served;
import dev.writ.executor.stage.StageObserver;
import dev.writ.executor.stage.StoreStage;
import dev.writ.executor.stage.WorkspaceUse;
import dev.writ.guardian.Admission;
import dev.writ.guardian.JudgeInputs;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The guardian's side of an executor in another process: sends it what was decided, and commits the
 * receipts that come back, each verified against the order and the run's chain. Whoever calls it
 * holds the lock of the run, so one effect of a run is under way at most.
 */
final class ApartGuardian implements Elsewhere, RunWorkspaces {
  /** The events of a run that are its executor's own, and so are not carried over. */
  private static final List<String> NOT_CARRIED =
      List.of(
          EventKind.EFFECT_DISPATCHED,
          EventKind.EFFECT_FINISHED,
          EventKind.RECEIPT_SIGNED,
          EventKind.RUN_CLOSED);

  /** How many events one message carries. */
  private static final int CARRIED_MAX = 512;

  private final RemoteExecutor executor;
  private final LedgerView ledger;
  private final KernelTime time;
  private final Supplier<SystemState> system;
  private final StoreStage.ContentStore contents;
  private final StageObserver observer;
  private final Supplier<ReceiptStage> receipts;

  /** What the executor said of the runs of orders that it would serve. */
  private final TreeMap<RunId, RunKnown> known = new TreeMap<>();

  ApartGuardian(
      RemoteExecutor executor,
      LedgerView ledger,
      KernelTime time,
      Supplier<SystemState> system,
      StoreStage.ContentStore contents,
      StageObserver observer,
      Supplier<ReceiptStage> receipts) {
    this.executor = executor;
    this.ledger = ledger;
    this.time = time;
    this.system = system;
    this.contents = contents;
    this.observer = observer;
    this.receipts = receipts;
  }

  @Override
  public void prepare(Order order, Instant at) {
    settleAwaited(order.submission().run());
    ApartOrder asked =
        new ApartOrder(
            head(),
            request(order),
            order.decisionEnvelope(),
            order.intentEnvelope(),
            at,
            Optional.empty());
    OrderPrepared prepared = inStep(() -> executor.prepare(asked));
    if (!prepared.missing().isEmpty()) {
      give(order.request(), prepared.missing());
      prepared = executor.prepare(asked);
    }
    if (!prepared.missing().isEmpty()) {
      throw new WritException(
          ExecutorError.ANSWER_WRONG, "it still lacks " + prepared.missing().getFirst());
    }
    requireSameChain(order.submission().run(), prepared.run());
    synchronized (known) {
      known.put(order.submission().run().id(), prepared.run());
    }
  }

  /** Before anything is dispatched: what was dispatched has to be able to end. */
  private static void requireSameChain(Runs.Borrowed run, RunKnown there) {
    Optional<ChainEnd> here;
    try (RunTurn turn = run.turn()) {
      here = turn.state().map(ReceiptStage::chain);
    }
    boolean begins = there.end().isEmpty() && here.map(end -> end.lamport() == 0).orElse(true);
    if (!begins && !there.end().equals(here)) {
      throw new WritException(
          ExecutorError.FORKED,
          run.id()
              + ": the last receipt here is "
              + here.map(end -> end.prev().toString()).orElse("none")
              + ", the executor's "
              + there.end().map(end -> end.prev().toString()).orElse("none"));
    }
  }

  private Envelope request(Order order) {
    return order
        .submission()
        .pendingWrites()
        .request()
        .orElseGet(() -> ledger.document(order.decision().request()).orElseThrow());
  }

  /** An earlier effect of the run may have a receipt that this log does not have yet. */
  private void settleAwaited(Runs.Borrowed run) {
    for (DispatchedRow row : dispatched()) {
      if (row.run().equals(run.id())) {
        settle(row, run);
      }
    }
  }

  /** Everything that was dispatched and has no receipt here. */
  List<DispatchedRow> dispatched() {
    List<DispatchedRow> rows = new ArrayList<>();
    ledger.scan(
        Tables.DISPATCHED,
        "",
        (_, value) -> {
          rows.add(DispatchedRow.parse(value));
          return true;
        });
    return rows;
  }

  private void give(Request request, List<Digest> missing) {
    for (Input input : request.effect().inputs()) {
      if (missing.contains(input.digest())) {
        executor.content(
            request.scope().tenant(),
            input.digest(),
            ledger.blob(input.digest(), input.size()),
            input.mediaType());
      }
    }
  }

  private SystemHead head() {
    Event last = ledger.head(SystemState.RUN).orElseThrow();
    return new SystemHead(last.seq() + 1, last.id());
  }

  /** Carries the system run over where the executor says that its copy is behind. */
  private <T> T inStep(Supplier<T> asked) {
    try {
      return asked.get();
    } catch (WritException e) {
      if (e.code() != ExecutorError.SYSTEM_BEHIND) {
        throw e;
      }
      carrySystem();
      return asked.get();
    }
  }

  /** Carries over what the executor's copy of the system run lacks. */
  void carrySystem() {
    long from = executor.system().events();
    long end = head().events();
    while (from < end) {
      CarriedEvents events = events(SystemState.RUN, from, List.of());
      executor.carrySystem(events);
      from = events.next();
    }
  }

  /** The next events of a run from that place on, with the documents they are about. */
  private CarriedEvents events(RunId run, long from, List<String> without) {
    List<Event> all = new ArrayList<>();
    long last = ledger.head(run).map(Event::seq).orElse(-1L);
    for (long seq = from; seq <= last && all.size() < CARRIED_MAX; seq++) {
      all.add(ledger.event(run, seq).orElseThrow());
    }
    List<Event> carried = all.stream().filter(e -> !without.contains(e.kind())).toList();
    TreeSet<Digest> named = new TreeSet<>();
    List<Envelope> documents = new ArrayList<>();
    for (Event event : carried) {
      ledger
          .document(event.body())
          .filter(_ -> named.add(event.body()))
          .ifPresent(document -> {
            documents.add(document);
            evidence(document, named, documents);
          });
    }
    return new CarriedEvents(from, from + all.size(), carried, documents);
  }

  private void evidence(Envelope document, TreeSet<Digest> named, List<Envelope> documents) {
    if (document.payloadType().equals(Decision.TYPE)) {
      JudgeInputs.read(Decision.read(document.document()).inputs())
          .artifacts()
          .forEach(seen ->
              ledger
                  .document(seen.id())
                  .filter(_ -> named.add(seen.id()))
                  .ifPresent(documents::add));
    }
  }

  /** Carries events in messages of their own until one more message carries the rest. */
  private CarriedEvents rest(RunId run, long from) {
    CarriedEvents next = events(run, from, NOT_CARRIED);
    while (next.next() <= ledger.head(run).map(Event::seq).orElse(-1L)) {
      executor.carry(run, next);
      next = events(run, next.next(), NOT_CARRIED);
    }
    return next;
  }

  @Override
  public Served finish(Dispatch.Dispatched dispatched) {
    Order order = dispatched.ready().order();
    RunId run = order.submission().run().id();
    RunKnown before;
    synchronized (known) {
      before = known.remove(run);
    }
    Ordered ordered =
        new Ordered(
            order.request(),
            order.decisionEnvelope(),
            order.decision(),
            order.intentEnvelope(),
            order.intent(),
            dispatched.startedAt(),
            dispatched.ready().workspaceBefore());
    return end(ordered, order.submission().run(), true, before.carried());
  }

  /**
   * Gets the end of an effect that was dispatched and has no receipt here; what the executor has
   * not begun never begins.
   *
   * @throws WritException {@code EXE-931} where the executor does not tell
   */
  Served settle(DispatchedRow row, Runs.Borrowed run) {
    Envelope intentEnvelope = ledger.document(row.intent()).orElseThrow();
    Intent intent = Intent.read(intentEnvelope.document());
    Envelope decision = ledger.document(intent.decision()).orElseThrow();
    Request request = Request.read(ledger.document(intent.request()).orElseThrow().document());
    Ordered ordered =
        new Ordered(
            request,
            decision,
            Decision.read(decision.document()),
            intentEnvelope,
            intent,
            ledger.event(row.run(), row.seq()).orElseThrow().at(),
            WorkspaceUse.before(ledger, request.scope(), intent.request()));
    long carried = awaiting(row.intent(), () -> inStep(() -> executor.run(row.run())).carried());
    return end(ordered, run, false, carried);
  }

  /** An effect that is dispatched in this log. */
  private record Ordered(
      Request request,
      Envelope decisionEnvelope,
      Decision decision,
      Envelope intentEnvelope,
      Intent intent,
      Instant startedAt,
      Optional<Digest> workspaceBefore) {}

  private Served end(Ordered ordered, Runs.Borrowed run, boolean begins, long carried) {
    RunState state;
    try (RunTurn turn = run.turn()) {
      state = turn.state().orElseThrow();
    }
    OrderEnded ended =
        awaiting(
            ordered.intentEnvelope().id(),
            () -> {
              ApartOrder order =
                  new ApartOrder(
                      head(),
                      ledger.document(ordered.intent().request()).orElseThrow(),
                      ordered.decisionEnvelope(),
                      ordered.intentEnvelope(),
                      ordered.startedAt(),
                      Optional.of(
                          new ApartOrder.Dispatching(
                              begins, ReceiptStage.chain(state), rest(run.id(), carried))));
              return inStep(() -> executor.end(order));
            });
    try {
      return adopt(ordered, run, state, ended);
    } catch (WritException e) {
      if (begins && e.code() == ExecutorError.OUTCOME_AWAITED) {
        observer.notStored((WritException) e.getCause()); // once, however often it is asked for
      }
      throw e;
    }
  }

  private static <T> T awaiting(Digest intent, Supplier<T> asked) {
    try {
      return asked.get();
    } catch (WritException e) {
      if (e.code() == ExecutorError.FORKED || e.code() == ExecutorError.SYSTEM_DIFFERS) {
        throw e;
      }
      throw awaited(intent, e);
    }
  }

  private static WritException awaited(Digest intent, WritException why) {
    return new WritException(
        ExecutorError.OUTCOME_AWAITED,
        "intent " + intent + ": " + why.code().code() + " " + why.found(),
        why);
  }

  /**
   * Commits the executor's receipt.
   *
   * @throws WritException {@code EXE-935} where it is not the receipt of this order; {@code
   *     CAN-0xx} where no executor's key signed it
   */
  private Served adopt(Ordered ordered, Runs.Borrowed run, RunState state, OrderEnded ended) {
    Envelope envelope = ended.receipt();
    Instant now = time.latest();
    system.get().trust().verify(envelope, Receipt.TYPE, now);
    Receipt receipt = Receipt.read(envelope.document());
    requireOf(ordered, state, receipt);
    if (receipt.finishedAt().isAfter(time.now(KernelTime.Reading.OUTSIDE).plus(Admission.SKEW))) {
      throw wrong("it ended at " + receipt.finishedAt() + ", which is in the future");
    }
    List<BlobRef> blobs = new ArrayList<>();
    receipt.output().ifPresent(c -> keep(c, ContentClass.OUTPUTS, receipt, ended, blobs));
    receipt.rawOutput().ifPresent(c -> keep(c, ContentClass.OUTPUTS, receipt, ended, blobs));
    receipt
        .artifacts()
        .forEach(a -> keep(a.content(), ContentClass.ARTIFACTS, receipt, ended, blobs));
    Optional<byte[]> observed =
        receipt.observations().map(digest -> required(digest, ended.contents()));
    observed.ifPresent(bytes -> blobs.add(stored(bytes, ContentClass.OBSERVATIONS, receipt)));
    receipts
        .get()
        .adopt(
            run,
            ordered.request(),
            new Signed<>(receipt, envelope),
            blobs,
            receipt.status() == Status.IN_DOUBT
                ? Optional.empty()
                : Optional.of(
                    observed
                        .map(ApartGuardian::cpuMs)
                        .orElse(ordered.request().effect().resources().cpuMs())));
    return new Served(
        envelope,
        receipt,
        Optional.empty(),
        receipt.output().map(output -> required(output.digest(), ended.contents())),
        receipt.rawOutput().map(Content::digest).map(ended.contents()::get),
        false);
  }

  /** All that the order and this log determine has to be in the receipt as they say. */
  private void requireOf(Ordered ordered, RunState state, Receipt r) {
    Receipt expected =
        new Receipt(
            ordered.request().scope(),
            receipts.get().lamportAfter(state, ordered.request()),
            state.lastReceipt(),
            ordered.intent().request(),
            ordered.decisionEnvelope().id(),
            ordered.intentEnvelope().id(),
            ordered.intent().effect(),
            ordered.request().effect().argsHash(),
            ordered.intent().tool(),
            r.status(),
            r.code(),
            r.reason(),
            r.message(),
            r.output(),
            r.rawOutput(),
            ordered.request().retention().equals("keep"),
            r.artifacts(),
            ordered.workspaceBefore(),
            r.workspaceAfter(),
            r.observations(),
            ordered.decision().snapshot(),
            ordered.intent().prngSeed(),
            r.region(),
            ordered.startedAt(),
            r.finishedAt());
    if (!r.prev().equals(expected.prev()) || r.lamport() != expected.lamport()) {
      throw new WritException(
          ExecutorError.FORKED,
          "run "
              + r.scope().run()
              + ": the receipt follows "
              + r.prev()
              + ", here the last is "
              + expected.prev());
    }
    if (!r.equals(expected)) {
      throw wrong("a receipt of another order");
    }
    boolean ends = !r.finishedAt().isBefore(r.startedAt());
    boolean output = r.output().isPresent() == (r.status() == Status.SUCCEEDED);
    if (!ends || !output || r.status() == Status.IN_DOUBT && r.observations().isPresent()) {
      throw wrong("a receipt that contradicts itself");
    }
  }

  private void keep(
      Content content, ContentClass as, Receipt receipt, OrderEnded ended, List<BlobRef> blobs) {
    if (!receipt.retained()) {
      return;
    }
    byte[] bytes = required(content.digest(), ended.contents());
    if (bytes.length != content.size()) {
      throw wrong(content.digest() + " has " + bytes.length + " bytes, not " + content.size());
    }
    blobs.add(stored(bytes, as, receipt));
  }

  /** The effect was done: where its contents cannot be stored here now, its end is awaited. */
  private BlobRef stored(byte[] bytes, ContentClass as, Receipt receipt) {
    try {
      return contents.store(bytes, as, receipt.scope());
    } catch (WritException e) {
      throw awaited(receipt.intent(), e);
    }
  }

  private static byte[] required(Digest digest, SortedMap<Digest, byte[]> given) {
    byte[] bytes = given.get(digest);
    if (bytes == null) {
      throw wrong("the content " + digest + " is missing");
    }
    return bytes;
  }

  private static WritException wrong(String found) {
    return new WritException(ExecutorError.ANSWER_WRONG, found);
  }

  private static long cpuMs(byte[] observations) {
    return Fields.of("observations", Jcs.parseCanonical(observations, Limits.DEFAULT))
        .fields("metrics")
        .count("cpu_ms");
  }

  // The run's workspace, which lies where the tools run.

  @Override
  public Digest treeDigest(String tenant, String run) {
    return executor.treeDigest(tenant, run);
  }

  /** The executor wipes it when it closes its own run. */
  @Override
  public void wipe(String tenant, String run, String reason, Instant at) {
    close(new RunId(tenant, run));
  }

  /** Has the executor close a run that is closed here. */
  void close(RunId run) {
    Event closed = ledger.head(run).orElseThrow();
    RunClosing closing = RunClosing.read(ledger.document(closed.body()).orElseThrow().document());
    RunKnown there = inStep(() -> executor.run(run));
    if (there.end().isEmpty()) {
      return; // it had no effect
    }
    executor.carry(run, rest(run, there.carried()));
    executor.close(ledger.document(closing.request()).orElseThrow());
  }
}
