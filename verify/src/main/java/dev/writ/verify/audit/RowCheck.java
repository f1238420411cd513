package dev.writ.verify.audit;

import static dev.writ.guardian.policy.retention.ContentClass.ARTIFACTS;
import static dev.writ.guardian.policy.retention.ContentClass.INPUTS;
import static dev.writ.guardian.policy.retention.ContentClass.OBSERVATIONS;
import static dev.writ.guardian.policy.retention.ContentClass.OUTPUTS;
import static dev.writ.verify.error.AuditError.CHAIN;
import static dev.writ.verify.error.AuditError.DOCUMENT;
import static dev.writ.verify.error.AuditError.ORDER;
import static dev.writ.verify.error.AuditError.ROW;
import static dev.writ.verify.error.AuditError.TWICE;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.document.Deletion;
import dev.writ.executor.journal.DispatchedRow;
import dev.writ.executor.journal.RequestRow;
import dev.writ.executor.journal.RunState;
import dev.writ.executor.journal.Tables;
import dev.writ.executor.retention.ArchivedRuns;
import dev.writ.executor.retention.Deletions;
import dev.writ.executor.stage.ReceiptStage;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Intent;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.verify.audit.OpenRun.Asked;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;

/**
 * Compares the rows that the kernel acts on with the state that follows from the events. Each row
 * that the events require is looked up once and counted; a table with more rows than that contains
 * one that no event caused.
 */
final class RowCheck implements RunRows {
  private static final byte[] NOTHING = {};

  private final LedgerView ledger;
  private final Findings findings;
  private final Tools tools;
  private final TreeMap<String, Long> expected = new TreeMap<>();
  private final TreeSet<RunId> archived = new TreeSet<>();

  RowCheck(LedgerView ledger, Findings findings, Tools tools) {
    this.ledger = ledger;
    this.findings = findings;
    this.tools = tools;
    for (String table :
        List.of(
            Tables.RUN,
            Tables.REQUEST,
            Tables.SERVED,
            Tables.DISPATCHED,
            Tables.IDEMPOTENCY,
            Tables.EXECUTION,
            Tables.RECEIPTS,
            Tables.DONE,
            Tables.APPROVAL,
            Tables.PENDING,
            Tables.DOUBT,
            Tables.CLOSED,
            Tables.WORKSPACE,
            Tables.UNSETTLED,
            Tables.DELETED,
            Tables.ARCHIVED)) {
      expected.put(table, 0L);
    }
  }

  /** Digests, since a ledger has no numbers for its documents. */
  @Override
  public RequestMarks marks() {
    DigestSet digests = new DigestSet();
    return new RequestMarks() {
      @Override
      public boolean add(Digest request) {
        return digests.add(request);
      }

      @Override
      public boolean contains(Digest request) {
        return digests.contains(request);
      }
    };
  }

  @Override
  public boolean has(String table, String key) {
    return ledger.get(table, key).isPresent();
  }

  private void bytes(String table, String key, byte[] recomputed) {
    row(table, key, Bytes::new, new Bytes(recomputed));
  }

  /** Bytes that compare and print. */
  private record Bytes(String hex) {
    Bytes(byte[] bytes) {
      this(HexFormat.of().formatHex(bytes));
    }

    @Override
    public String toString() {
      return hex.isEmpty() ? "an empty row" : hex;
    }
  }

  private <T> void row(String table, String key, Function<byte[], T> parser, T recomputed) {
    expected.merge(table, 1L, Long::sum);
    findings.rows++;
    Optional<byte[]> row = ledger.get(table, key);
    String place = Findings.row(table, key);
    if (row.isEmpty()) {
      expected.merge(table, -1L, Long::sum);
      findings.problem(ROW, place, "no row", recomputed);
      return;
    }
    try {
      findings.same(ROW, place, parser.apply(row.get()), recomputed);
    } catch (WritException e) {
      findings.problem(ROW, place, e, recomputed);
    }
  }

  @Override
  public void request(OpenRun run, Asked asked) {
    RequestRow.State state = asked.state.orElseThrow();
    row(
        Tables.REQUEST,
        Tables.key(asked.id),
        RequestRow::parse,
        new RequestRow(
            run.id, state, asked.decision.orElseThrow(), asked.intent, asked.receivedAt));
  }

  @Override
  public void approval(Digest request, Digest approval) {
    bytes(Tables.APPROVAL, Tables.key(request.hex(), approval.hex()), NOTHING);
  }

  @Override
  public void doubt(Digest receipt, byte[] value) {
    bytes(Tables.DOUBT, Tables.key(receipt), value);
  }

  @Override
  public void dispatched(Digest id, Request request, String place) {
    // its rows are checked when it has its receipt, or at the end of the log
  }

  /** The rows of receipts are compared with the events. */
  @Override
  public boolean isWritten(RunId by, Digest id, Receipt receipt) {
    RunId of = new RunId(receipt.scope().tenant(), receipt.scope().run());
    return ledger
        .get(Tables.RECEIPTS, Tables.key(of.tenant(), of.run(), Tables.number(receipt.lamport())))
        .filter(row -> Arrays.equals(row, id.bytes()))
        .isPresent();
  }

  /** Checks the rows of an effect that has its receipt. */
  @Override
  public void served(OpenRun run, Asked asked, Request request, Digest id, Receipt receipt) {
    request(run, asked);
    bytes(Tables.SERVED, Tables.key(asked.id), id.bytes());
    bytes(
        Tables.RECEIPTS,
        Tables.key(run.id.tenant(), run.id.run(), Tables.number(run.lamport)),
        id.bytes());
    idempotency(run, request, asked);
    request
        .origin()
        .flatMap(origin -> origin.execution())
        .ifPresent(name -> bytes(Tables.EXECUTION, Tables.key(run.id.tenant(), name), NOTHING));
    asked.dispatched.ifPresent(event -> inputs(run, request, event.seq(), "request " + asked.id));
    receipt
        .observations()
        .map(digest -> new Deletion.Item(OBSERVATIONS, digest, run.head.seq(), sizeOf(digest)))
        .ifPresent(item -> stored(run, item, "receipt " + id));
    if (receipt.status() != Status.IN_DOUBT) {
      receipt
          .output()
          .filter(_ -> receipt.retained())
          .ifPresent(c -> content(run, request, id, OUTPUTS, c));
      receipt
          .rawOutput()
          .filter(_ -> receipt.retained())
          .ifPresent(c -> content(run, request, id, OUTPUTS, c));
      if (receipt.retained()) {
        receipt
            .artifacts()
            .forEach(artifact -> content(run, request, id, ARTIFACTS, artifact.content()));
      }
    }
  }

  /**
   * Retained content must be stored, unless its deletion is stated, and be held by the subject and
   * the run, or by the tenant where an earlier release wrote the row. That the row of a deletion
   * follows from a statement is checked with the statement.
   */
  private void content(
      OpenRun run, Request request, Digest receipt, ContentClass of, Content content) {
    // The receipt is in the event behind the run's head.
    Deletion.Item item =
        new Deletion.Item(of, content.digest(), run.head.seq() + 1, content.size());
    findings.outputs += isDeleted(run, item) ? 0 : 1;
    stored(run, item, "receipt " + receipt);
    String tenants = Tables.key(run.id.tenant(), content.digest().hex());
    String held = Tables.key(tenants, request.scope().subject(), run.id.run());
    findings.rows++;
    if (!has(Tables.HELD, held) && !has(Tables.REFERENCE, tenants)) {
      findings.problem(ROW, Findings.row(Tables.HELD, held), "no row", "an empty row");
    }
  }

  private void inputs(OpenRun run, Request request, long dispatched, String namedBy) {
    request.effect().inputs().stream()
        .map(input -> new Deletion.Item(INPUTS, input.digest(), dispatched, input.size()))
        .forEach(item -> stored(run, item, namedBy));
  }

  /** A content has to be there, in its size, unless a statement says that it was deleted. */
  private void stored(OpenRun run, Deletion.Item item, String namedBy) {
    if (isDeleted(run, item)) {
      return;
    }
    String place = namedBy + " content " + item.digest();
    try {
      findings.same(DOCUMENT, place, ledger.blobSize(item.digest()), item.size());
    } catch (WritException e) {
      findings.problem(DOCUMENT, place, e, item.size());
    }
  }

  private boolean isDeleted(OpenRun run, Deletion.Item item) {
    return has(Tables.DELETED, Deletions.key(run.id, item));
  }

  /** Of observations, whose size no document states. */
  private long sizeOf(Digest content) {
    return ledger.hasBlob(content) ? ledger.blobSize(content) : 0;
  }

  /**
   * An idempotency key belongs to one request for ever; a second request dispatched under it is a
   * problem.
   */
  private void idempotency(OpenRun run, Request request, Asked asked) {
    String key = ReceiptStage.idempotencyKey(request, asked.id);
    Optional<Digest> owner =
        ledger
            .get(Tables.IDEMPOTENCY, key)
            .filter(row -> row.length == Digest.LENGTH)
            .map(Digest::ofBytes)
            .filter(other -> !other.equals(asked.id));
    boolean dispatchedToo =
        owner
            .filter(other ->
                has(Tables.SERVED, Tables.key(other)) || has(Tables.DISPATCHED, Tables.key(other)))
            .filter(other -> idempotencyKey(other).filter(key::equals).isPresent())
            .isPresent();
    if (dispatchedToo) {
      findings.problem(
          TWICE,
          Findings.row(Tables.IDEMPOTENCY, key),
          "dispatched for " + asked.id + " and " + owner.orElseThrow(),
          "dispatched once");
    } else {
      bytes(Tables.IDEMPOTENCY, key, asked.id.bytes());
    }
  }

  private Optional<String> idempotencyKey(Digest request) {
    try {
      return ledger
          .document(request)
          .map(envelope -> Request.read(envelope.document()))
          .map(read -> ReceiptStage.idempotencyKey(read, request));
    } catch (WritException e) {
      return Optional.empty(); // reported elsewhere; it owns no key
    }
  }

  /** Checks a run whose walk ends: at its closing, or open at the end of the log. */
  private void run(OpenRun run, boolean closed) {
    for (Asked asked : run.asked.values()) {
      if (asked.state.isEmpty()) {
        findings.problem(ORDER, "run " + run.id + " request " + asked.id, "received", "judged");
        continue;
      }
      if (asked.state.get() == RequestRow.State.ALLOWED && asked.intent.isEmpty()) {
        findings.problem(
            ORDER, "run " + run.id + " request " + asked.id, "allowed", "an intent issued");
      }
      request(run, asked);
      if (asked.state.get() == RequestRow.State.PENDING) {
        bytes(Tables.PENDING, Tables.key(run.id.tenant(), run.id.run(), asked.id.hex()), NOTHING);
      }
      asked.dispatched.ifPresent(event -> dispatched(run, asked, event));
    }
    run.done.forEach(
        what -> bytes(Tables.DONE, Tables.key(run.id.tenant(), run.id.run(), what), NOTHING));
    run.doubts.forEach(receipt -> doubt(receipt, NOTHING));
    workspace(run, closed);
    row(
        Tables.RUN,
        Tables.key(run.id.tenant(), run.id.run()),
        RunState::parse,
        new RunState(
            run.opener,
            run.seed,
            run.lastReceipt,
            run.lamport,
            run.receipts,
            new RunState.Unfinished(run.pending(), run.running(), run.doubts.size()),
            closed));
  }

  /** The workspace of a closed run may exist for a while, until it is wiped. */
  private void workspace(OpenRun run, boolean closed) {
    run.workspace
        .unsettled()
        .forEach((request, before) ->
            bytes(
                Tables.UNSETTLED,
                Tables.key(run.id.tenant(), run.id.run(), request.hex()),
                before.bytes()));
    boolean used = run.workspace.used();
    for (Asked asked : run.asked.values()) {
      used |= asked.dispatched.isPresent() && running(run, asked);
    }
    String key = Tables.key(run.id.tenant(), run.id.run());
    if (used && (!closed || has(Tables.WORKSPACE, key))) {
      bytes(Tables.WORKSPACE, key, NOTHING);
    }
  }

  /**
   * Whether an effect without a receipt uses the workspace. No event states its tree before yet,
   * except the tree that it pins.
   */
  private boolean running(OpenRun run, Asked asked) {
    String key = Tables.key(run.id.tenant(), run.id.run(), asked.id.hex());
    Optional<Boolean> uses =
        asked
            .intent
            .flatMap(ledger::document)
            .flatMap(envelope -> tools.manifest(Intent.read(envelope.document()).tool()))
            .map(manifest -> manifest.capabilities().workspace());
    Optional<byte[]> row = ledger.get(Tables.UNSETTLED, key);
    if (!uses.orElse(row.isPresent())) {
      return false; // an existing row is reported as one too many
    }
    Optional<Digest> pinned =
        ledger
            .document(asked.id)
            .flatMap(e -> Request.read(e.document()).effect().workspaceBefore());
    row(
        Tables.UNSETTLED,
        key,
        RowCheck::tree,
        pinned
            .or(() -> row.filter(r -> r.length == Digest.LENGTH).map(Digest::ofBytes))
            .map(Digest::toString)
            .orElse("a tree digest"));
    return true;
  }

  private static String tree(byte[] row) {
    return row.length == Digest.LENGTH ? Digest.ofBytes(row).toString() : row.length + " bytes";
  }

  private void dispatched(OpenRun run, Asked asked, Event event) {
    row(
        Tables.DISPATCHED,
        Tables.key(asked.id),
        DispatchedRow::parse,
        new DispatchedRow(run.id, event.seq(), event.body()));
    ledger
        .document(asked.id)
        .map(envelope -> Request.read(envelope.document()))
        .ifPresent(request -> idempotency(run, request, asked));
  }

  /** Checks the rows of a statement of deletion. */
  void deleted(Deletion deletion, Digest statement) {
    for (Deletion.Item item : deletion.contents()) {
      bytes(Tables.DELETED, Deletions.key(deletion.of(), item), statement.bytes());
    }
    if (deletion.reason() instanceof Deletion.Archived in && archived.add(deletion.of())) {
      bytes(Tables.ARCHIVED, ArchivedRuns.key(deletion.of()), in.bundle().bytes());
    }
  }

  @Override
  public void openRun(OpenRun run) {
    run(run, false);
  }

  /** The installation's own run, which no agent's request opens. */
  void systemRun(Event opening) {
    row(
        Tables.RUN,
        Tables.key(opening.tenant(), opening.run()),
        RunState::parse,
        new RunState(
            "system",
            opening.prngSeed().orElse(""),
            opening.id(),
            0,
            0,
            new RunState.Unfinished(0, 0, 0),
            false));
  }

  /** A closed run is sealed by a checkpoint that covers its last event. */
  @Override
  public void closedRun(OpenRun run, long index) {
    run(run, true);
    String key = Tables.key(run.id.tenant(), run.id.run());
    expected.merge(Tables.CLOSED, 1L, Long::sum);
    findings.rows++;
    Optional<byte[]> row = ledger.get(Tables.CLOSED, key);
    if (row.isEmpty()) {
      expected.merge(Tables.CLOSED, -1L, Long::sum);
      findings.problem(ROW, Findings.row(Tables.CLOSED, key), "no row", "a checkpoint");
    } else if (row.get().length == 0) {
      findings.unsealed++;
    } else {
      sealed(key, new String(row.get(), StandardCharsets.US_ASCII), index);
    }
  }

  private void sealed(String key, String size, long index) {
    String place = Findings.row(Tables.CLOSED, key);
    if (!size.matches("[0-9a-f]{16}") || Long.parseUnsignedLong(size, 16) <= index) {
      findings.problem(ROW, place, size, "the size of a checkpoint beyond " + index);
    } else if (ledger.checkpoint(Long.parseUnsignedLong(size, 16)).isEmpty()) {
      findings.problem(CHAIN, place, "no checkpoint of that size", "a checkpoint");
    }
  }

  /** At the end: no table may contain more rows than the events require. */
  void end() {
    expected.forEach((table, count) -> {
      List<String> keys = new ArrayList<>();
      long[] rows = {0};
      ledger.scan(
          table,
          "",
          (key, _) -> {
            rows[0]++;
            if (!caused(table, key) && keys.size() < AuditReport.PROBLEMS_MAX) {
              keys.add(key);
            }
            return true;
          });
      if (rows[0] > count) {
        keys.forEach(key ->
            findings.problem(ROW, Findings.row(table, key), "a row", "no row: no event causes it"));
        if (keys.isEmpty()) {
          findings.problem(ROW, "table " + table, rows[0] + " rows", count + " rows");
        }
      }
    });
  }

  /** Whether a document with the id in the row's key exists; the count shows the rest. */
  private boolean caused(String table, String key) {
    try {
      return switch (table) {
        case Tables.RUN, Tables.CLOSED, Tables.WORKSPACE -> {
          String[] parts = key.split("\u001f", -1);
          yield parts.length == 2 && ledger.head(new RunId(parts[0], parts[1])).isPresent();
        }
        case Tables.REQUEST, Tables.SERVED, Tables.DOUBT ->
            ledger.hasDocument(Digest.parse("sha256:" + key));
        case Tables.DISPATCHED -> !has(Tables.SERVED, key);
        case Tables.APPROVAL, Tables.PENDING, Tables.UNSETTLED ->
            ledger.hasDocument(Digest.parse("sha256:" + Tables.lastPart(key)));
        case Tables.IDEMPOTENCY ->
            ledger
                .get(table, key)
                .filter(row -> row.length == Digest.LENGTH)
                .map(Digest::ofBytes)
                .flatMap(this::idempotencyKey)
                .filter(key::equals)
                .isPresent();
        default -> true;
      };
    } catch (WritException e) {
      return false;
    }
  }
}
