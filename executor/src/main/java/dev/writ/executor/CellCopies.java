package dev.writ.executor;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.journal.Runs;
import dev.writ.executor.stage.KernelTime;
import dev.writ.ledger.Ledger;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/**
 * Brings the system run of a cell up to that of the system cell, before a kernel is opened over it.
 */
final class CellCopies {
  private CellCopies() {}

  /** The time of a statement, or the log's where that is beyond it. */
  private static final class CopiedTime implements KernelTime {
    private Instant latest;

    CopiedTime(Instant highWater) {
      this.latest = highWater;
    }

    void reach(Instant at) {
      latest = at.isAfter(latest) ? at : latest;
    }

    @Override
    public Instant now(Reading what) {
      return latest;
    }

    @Override
    public Instant nowOrLatest(Reading what) {
      return latest;
    }

    @Override
    public Instant latest() {
      return latest;
    }
  }

  static void copy(Ledger ledger, List<SystemStatement> statements, SecureRandom random) {
    List<Digest> own = new ArrayList<>();
    ledger.events(
        SystemState.RUN,
        0,
        event -> {
          if (SystemStatement.isShared(event)) {
            own.add(event.body());
          }
        });
    requirePrefix(own, statements);
    CopiedTime time = new CopiedTime(ledger.highWater());
    Administration administration = new Administration(ledger, time, new Runs(ledger, random));
    StateGate inForce = new StateGate(SystemState.read(ledger));
    for (SystemStatement next : statements.subList(own.size(), statements.size())) {
      time.reach(next.at());
      inForce.change(state -> administration.apply(next.document(), state));
    }
  }

  private static void requirePrefix(List<Digest> own, List<SystemStatement> statements) {
    for (int i = 0; i < own.size(); i++) {
      boolean isSame =
          i < statements.size() && statements.get(i).document().id().equals(own.get(i));
      if (!isSame) {
        throw new WritException(
            ExecutorError.CELL_DIVERGED,
            "statement "
                + i
                + " is "
                + own.get(i)
                + (i < statements.size()
                    ? ", the system cell's is " + statements.get(i).document().id()
                    : ", the system cell has " + statements.size()));
      }
    }
  }
}
