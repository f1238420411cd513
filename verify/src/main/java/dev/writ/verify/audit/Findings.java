package dev.writ.verify.audit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.ledger.event.Event;
import dev.writ.verify.audit.AuditReport.Problem;
import dev.writ.verify.error.AuditError;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** Collects the findings of an audit. Not thread safe. */
final class Findings {
  private static final int TEXT_MAX = 300;

  private final List<Problem> problems = new ArrayList<>();
  private final List<String> latest = new ArrayList<>();
  private long problemsTotal;
  private long late;
  long signatures;
  long bindings;
  long judged;
  long snapshots;
  long rows;
  long balances;
  long rates;
  long loose;
  long gaps;
  long notJudged;
  long unsealed;
  long outputs;
  long deleted;
  long deletedBySize;
  long allowedFormerly;
  private long archived;
  private final TreeSet<Digest> bundles = new TreeSet<>();
  private final TreeMap<Digest, Erased> erased = new TreeMap<>();
  long reads;
  long cellStatements;
  long cellsRestored;
  long moves;
  long workspaces;
  long emptied;
  private long otherReceipts;
  private Optional<String> otherReceiptFirst = Optional.empty();
  private long changed;
  private Optional<String> changedFirst = Optional.empty();
  long requests;
  long decisions;
  long dispatched;
  long receipts;

  /** Adds what a walk over the accounts has counted; it has found no problem. */
  void addAccounts(Findings of) {
    rows += of.rows;
    balances += of.balances;
    rates += of.rates;
    loose += of.loose;
    gaps += of.gaps;
  }

  static String place(Event event) {
    return "event " + event.runId() + " " + event.seq() + " " + event.kind();
  }

  static String row(String table, String key) {
    return "row " + table + " " + key.replace('\u001f', '/');
  }

  void problem(ErrorCode code, String place, Object recorded, Object recomputed) {
    problemsTotal++;
    if (problems.size() < AuditReport.PROBLEMS_MAX) {
      problems.add(new Problem(code, place, text(recorded), text(recomputed)));
    }
  }

  /** Compares a recorded value with the recomputed one. */
  void same(ErrorCode code, String place, Object recorded, Object recomputed) {
    if (!recorded.equals(recomputed)) {
      problem(code, place, recorded, recomputed);
    }
  }

  /** Requires that an event has a seed exactly if its kind has one (spec/journal.md). */
  void seed(AuditError code, Event event, boolean wanted) {
    if (event.prngSeed().isPresent() != wanted) {
      problem(
          code,
          place(event) + " /prng_seed",
          event.prngSeed().orElse("none"),
          wanted ? "a seed" : "none");
    }
  }

  /**
   * Counts a document that reached the log after something it depends on had ended, as in-flight
   * work does.
   */
  void late(String place, String what) {
    late++;
    if (latest.size() < 10) {
      latest.add(place + ", " + what);
    }
  }

  /** Counts a workspace whose tree no effect in the log left so. */
  void changed(String place) {
    changed++;
    changedFirst = changedFirst.or(() -> Optional.of(place));
  }

  /** Counts a judgement that states the time of receipt of another call with the same request. */
  void otherReceipt(String place) {
    otherReceipts++;
    otherReceiptFirst = otherReceiptFirst.or(() -> Optional.of(place));
  }

  /** What was verified of statements on other cells' logs. */
  List<String> ofCells() {
    if (cellStatements == 0) {
      return List.of();
    }
    String restored =
        cellsRestored == 0
            ? ""
            : ", but for " + cellsRestored + " where an operator put a backup in service";
    return List.of(
        cellStatements
            + " statements on other cells' logs: signed, and none behind those before it"
            + restored);
  }

  /** What was verified of tenants that were moved. */
  List<String> ofMoves() {
    return moves == 0
        ? List.of()
        : List.of(
            moves
                + " departures and arrivals of tenants: signed, as operators stated, each once, and"
                + " no work of a tenant while another cell had it");
  }

  /** Remarks on what former kernels did not look at, beside what was verified. */
  private List<String> ofFormerKernels() {
    List<String> lines = new ArrayList<>();
    if (otherReceipts > 0) {
      lines.add(
          otherReceipts
              + " decisions: judged with the time at which another call with the same request"
              + " came in (spec/audit.md, bound 11), first "
              + otherReceiptFirst.orElseThrow());
    }
    if (allowedFormerly > 0) {
      lines.add(
          allowedFormerly
              + " dispatches: after the key of somebody who allowed them was revoked, which kernels"
              + " up to November 2026 did not ask");
    }
    return lines;
  }

  /** Remarks on workspaces, beside what was verified. */
  private List<String> ofWorkspaces() {
    List<String> lines = new ArrayList<>();
    if (changed > 0) {
      lines.add(
          changed
              + " effects: found their workspace other than the effect before left it, by nobody in"
              + " the log, first "
              + changedFirst.orElseThrow());
    }
    if (emptied > 0) {
      lines.add(
          emptied
              + " effects: found their workspace empty, which the effect before did not leave so;"
              + " as when its time is over");
    }
    return lines;
  }

  /** What an order had erased, and when the last of it was stated. */
  private record Erased(long contents, Instant at) {}

  /** Counts a content that is stated to be erased. */
  void erased(Digest order, Instant at) {
    erased.merge(order, new Erased(1, at), (before, _) -> new Erased(before.contents() + 1, at));
  }

  /** What was verified of orders of erasure. */
  List<String> ofErasures() {
    return erased.entrySet().stream()
        .map(order ->
            order.getValue().contents()
                + " contents: erased at "
                + Timestamps.format(order.getValue().at())
                + " by order "
                + order.getKey()
                + " of an operator, as the executor signed")
        .toList();
  }

  /** A content of an archived run. */
  void archived(Digest bundle) {
    archived++;
    bundles.add(bundle);
  }

  /** What was verified of the archive of closed runs. */
  List<String> ofArchive() {
    return archived == 0
        ? List.of()
        : List.of(
            archived
                + " contents: moved to the archive as policy allows, in "
                + bundles.size()
                + " bundles, as the executor signed");
  }

  /** Remarks on deletions, beside what was verified. */
  private List<String> ofDeletions() {
    List<String> remarks = new ArrayList<>();
    if (deletedBySize > 0) {
      remarks.add(
          deletedBySize
              + " contents: deleted by a rule with bytes_max; that there were more bytes is not"
              + " recomputed");
    }
    if (archived > 0) {
      remarks.add(
          bundles.size()
              + " bundles of archived runs: that the archive still has them, `writ archive verify`"
              + " says");
    }
    return remarks;
  }

  static String text(Object value) {
    String text =
        switch (value) {
          case WritException e -> e.code().code() + " " + e.found();
          default -> value.toString();
        };
    return text.length() <= TEXT_MAX ? text : text.substring(0, TEXT_MAX) + "…";
  }

  List<Problem> problems() {
    return problems;
  }

  long problemsTotal() {
    return problemsTotal;
  }

  /** What was not verified of deletions, former kernels, workspaces and late documents. */
  List<String> notVerified() {
    List<String> lines = new ArrayList<>(ofDeletions());
    lines.addAll(ofFormerKernels());
    lines.addAll(ofWorkspaces());
    if (late > 0) {
      lines.add(
          late
              + " documents: reached the log after a revocation or change that the kernel's clock"
              + " puts behind them, first "
              + latest);
    }
    return lines;
  }
}
