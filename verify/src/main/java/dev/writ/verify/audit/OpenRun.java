package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.journal.RequestRow;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** A run during the walk through the log: its state after its events so far. */
final class OpenRun {
  final RunId id;
  final Event opening;
  final String seed;
  String opener;

  /** The subject that it was opened for: that of its first request. */
  String owner = "";

  /** Whether an earlier decision recorded the owner; then every later one must. */
  boolean ownerIsRecorded;

  /** Of the latest intent that names the epoch of its owner; zero before. */
  long epoch;

  Event head;
  Digest lastReceipt;
  long lamport;
  long receipts;

  /** Every request so far. */
  final RequestMarks received;

  /** Requests on which further events may follow. */
  final TreeMap<Digest, Asked> asked = new TreeMap<>();

  /** Receipts in doubt that are not resolved. */
  final TreeSet<Digest> doubts = new TreeSet<>();

  /** tool, operation pairs that succeeded. */
  final TreeSet<String> done = new TreeSet<>();

  /** The run's workspace, after its effects so far. */
  final OpenWorkspace workspace = new OpenWorkspace();

  /** An {@code effect.finished} that waits for its receipt. */
  Optional<Event> finished = Optional.empty();

  OpenRun(Event opening, RequestMarks received) {
    this.received = received;
    this.id = opening.runId();
    this.opening = opening;
    this.seed = opening.prngSeed().orElse("");
    this.opener = "";
    this.head = opening;
    this.lastReceipt = opening.id();
  }

  /** A request during the walk through the log. */
  static final class Asked {
    final Digest id;
    final String holder;

    /** The time in the request's row: that of the event, or of a judgement that states another. */
    Instant receivedAt;

    /** When it was judged first. */
    Optional<Instant> judgedAt = Optional.empty();

    Optional<RequestRow.State> state = Optional.empty();
    Optional<Digest> decision = Optional.empty();

    /** The subject that its run was opened for, as its last decision records it. */
    Optional<String> owner = Optional.empty();

    Optional<Digest> intent = Optional.empty();
    Optional<Event> dispatched = Optional.empty();

    /** How often time had gone back when it was dispatched. */
    int restarts;

    /** Approvals received so far. */
    final TreeSet<Digest> approvals = new TreeSet<>();

    Asked(Digest id, Instant receivedAt, String holder) {
      this.id = id;
      this.receivedAt = receivedAt;
      this.holder = holder;
    }
  }

  long pending() {
    return asked.values().stream()
        .filter(a -> a.state.filter(s -> s == RequestRow.State.PENDING).isPresent())
        .count();
  }

  long running() {
    return asked.values().stream().filter(a -> a.dispatched.isPresent()).count();
  }
}
