package dev.writ.ledger.fsck;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.fsck.FsckReport.Problem;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;

/** What an examination has found so far, and how it walks rows. */
final class Examination {
  private static final byte[] ALL = {};

  private final Storage store;
  private final Fsck.Options options;
  private final Consumer<WritException> requireAsked;
  private final List<String> verified = new ArrayList<>();
  private final List<String> notVerified = new ArrayList<>();
  private final List<Problem> problems = new ArrayList<>();
  private long problemsTotal;

  /**
   * @param requireAsked refuses where a failure says that the store of large contents cannot be
   *     asked now
   */
  Examination(Storage store, Fsck.Options options, Consumer<WritException> requireAsked) {
    this.store = store;
    this.options = options;
    this.requireAsked = requireAsked;
  }

  /**
   * Makes a step of the examination; damage below the level of rows ends this step only.
   *
   * @throws WritException where the store of large contents cannot be asked: what is not looked at
   *     is neither sound nor damaged
   */
  void step(String what, Runnable step) {
    try {
      step.run();
    } catch (WritException e) {
      requireAsked(e);
      problem(what, "the examination ended early: " + e.getMessage());
    }
  }

  /** Passes on a failure that says nothing of what is examined. */
  void requireAsked(WritException failure) {
    requireAsked.accept(failure);
  }

  void verified(String what) {
    verified.add(what);
  }

  void notVerified(String what) {
    notVerified.add(what);
  }

  void problem(String where, String found) {
    problemsTotal++;
    if (problems.size() < FsckReport.PROBLEMS_MAX) {
      problems.add(new Problem(where, found));
    }
  }

  void done(String step, long done) {
    options.progress().at(step, done);
  }

  /** Visits all rows of a family; one that cannot be parsed is a problem of its own. */
  void scan(Family family, Storage.Visitor visitor) {
    store.scan(
        family,
        ALL,
        ALL,
        (key, row) -> {
          try {
            return visitor.row(key, row);
          } catch (WritException e) {
            requireAsked(e);
            problem(family + " row " + HexFormat.of().formatHex(key), e.getMessage());
            return true;
          }
        });
  }

  void secondOpinion(String where, byte[] canonical) {
    options
        .secondOpinion()
        .ifPresent(opinion -> {
          try {
            opinion.accept(canonical);
          } catch (RuntimeException e) {
            problem(where, "the second opinion differs: " + e.getMessage());
          }
        });
  }

  FsckReport report(long size, Digest root) {
    return new FsckReport(verified, notVerified, problems, problemsTotal, size, root.toString());
  }
}
