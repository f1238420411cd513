package dev.writ.console.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.ErrorJson;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.v1.TemporaryFile;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** One job, its progress and what came of it. Thread safe. */
final class AuditJob {
  /** Where a job is. */
  enum State {
    QUEUED,
    RUNNING,
    DONE,
    FAILED,
    CANCELLED;

    boolean ended() {
      return this == DONE || this == FAILED || this == CANCELLED;
    }

    String word() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** What is known of one run. */
  record Result(String run, boolean holds, JsonValue said) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("run", run)
          .put("holds", JsonValue.of(holds))
          .put("found", said)
          .build();
    }
  }

  private final String id;
  private final Caller caller;
  private final AuditKind kind;
  private final List<String> runs;
  private final Instant createdAt;
  private final List<Result> results = new ArrayList<>();
  private State state = State.QUEUED;
  private int runsDone;
  private String what = "";
  private long done;
  private long total;
  private Optional<Instant> endedAt = Optional.empty();
  private Optional<WritException> failure = Optional.empty();
  private Optional<TemporaryFile> page = Optional.empty();
  private long changes;

  AuditJob(String id, Caller caller, AuditKind kind, List<String> runs, Instant createdAt) {
    this.id = id;
    this.caller = caller;
    this.kind = kind;
    this.runs = List.copyOf(runs);
    this.createdAt = createdAt;
  }

  String id() {
    return id;
  }

  /** Who asked for it; its rights are looked at again with each run. */
  Caller caller() {
    return caller;
  }

  AuditKind kind() {
    return kind;
  }

  List<String> runs() {
    return runs;
  }

  synchronized State state() {
    return state;
  }

  /** Whether it belongs to a caller: to its subject, whatever credential it shows. */
  boolean isOf(Caller other) {
    return caller.tenant().equals(other.tenant()) && caller.subject().equals(other.subject());
  }

  /** Whether it is to be worked at; false where it was cancelled meanwhile. */
  synchronized boolean begin() {
    if (state != State.QUEUED) {
      return false;
    }
    state = State.RUNNING;
    changed();
    return true;
  }

  /**
   * @throws WritException {@code GWY-128} where it was cancelled
   */
  synchronized void progress(String part, long partDone, long partTotal) {
    if (state != State.RUNNING) {
      throw new WritException(AuditJobError.CANCELLED, id);
    }
    what = part;
    done = partDone;
    total = partTotal;
    changed();
  }

  synchronized void add(Result result, int runsOfIt) {
    results.add(result);
    runsDone += runsOfIt;
    changed();
  }

  /** Keeps the page of a report; closes it at once where nobody wants it any more. */
  synchronized void keep(TemporaryFile file) {
    if (state == State.RUNNING) {
      page = Optional.of(file);
    } else {
      file.close();
    }
  }

  synchronized Optional<TemporaryFile> page() {
    return page;
  }

  synchronized List<Result> results() {
    return List.copyOf(results);
  }

  /** Ends it, unless it has ended. */
  synchronized void end(State as, Optional<WritException> why, Instant at) {
    if (state.ended()) {
      return;
    }
    state = as;
    failure = why;
    endedAt = Optional.of(at);
    changed();
  }

  /** Frees what it keeps on disk. */
  synchronized void forget() {
    page.ifPresent(TemporaryFile::close);
    page = Optional.empty();
  }

  private void changed() {
    changes++;
    notifyAll();
  }

  /** Counts its changes, for {@link #await}. */
  synchronized long changes() {
    return changes;
  }

  /** Returns when something changed since, or after that time. */
  synchronized void await(long seen, Duration atMost) throws InterruptedException {
    long end = System.nanoTime() + atMost.toNanos();
    for (long left = atMost.toMillis(); changes == seen && left > 0; ) {
      wait(left);
      left = (end - System.nanoTime()) / 1_000_000;
    }
  }

  /** Without the findings, which are its result. */
  synchronized JsonValue.Obj toJson() {
    ObjectBuilder json =
        JsonValue.object()
            .put("id", id)
            .put("kind", kind.name().toLowerCase(Locale.ROOT))
            .put("state", state.word())
            .putList("runs", runs, JsonValue::of)
            .put("created_at", createdAt)
            .put("runs_done", runsDone)
            .put("hold", results.stream().filter(Result::holds).count())
            .put("fail", results.stream().filter(result -> !result.holds()).count())
            .putIfPresent("failure", failure, ErrorJson::of);
    endedAt.ifPresent(at -> json.put("ended_at", at));
    if (state == State.RUNNING) {
      json.put(
          "progress",
          JsonValue.object().put("what", what).put("done", done).put("total", total).build());
    }
    return json.build();
  }
}
