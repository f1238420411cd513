package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.CellPlacement;
import dev.writ.executor.CellRootsOutcome;
import dev.writ.executor.Kernel;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.Checkpoint;
import java.time.Duration;
import java.util.TreeMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * What the owner of a cell does for the root of the installation, at intervals (spec/cells.md, "One
 * root"): it makes a checkpoint where the log has grown; the owner of the system cell states those
 * of all others. It has a thread of its own, for which no effect waits.
 */
final class CellRounds implements AutoCloseable {
  private static final String NOT_STATED = "cell-not-stated";
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(5);

  private final OpenHome open;
  private final JsonLog log;

  /** The code that was told last of each cell. */
  private final TreeMap<Integer, String> told = new TreeMap<>();

  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("writ-cells").factory());

  private CellRounds(OpenHome open, JsonLog log) {
    this.open = open;
    this.log = log;
  }

  /**
   * Begins with a round at once.
   *
   * @param every from the end of a round to the next one
   */
  static CellRounds start(OpenHome open, JsonLog log, Duration every) {
    CellRounds rounds = new CellRounds(open, log);
    rounds.thread.scheduleWithFixedDelay(rounds::round, 0, every.toMillis(), TimeUnit.MILLISECONDS);
    return rounds;
  }

  /** An exception would end all further rounds; its message may hold anything. */
  private void round() {
    int cell = open.home().cell();
    TreeMap<Integer, WritException> refused = new TreeMap<>();
    try {
      if (cell == CellPlacement.SYSTEM) {
        refused.putAll(state());
      } else {
        cover();
      }
    } catch (RuntimeException e) {
      refused.put(cell, CellTrouble.of(e));
    }
    if (!thread.isShutdown()) {
      tell(refused);
    }
  }

  private void cover() {
    Kernel kernel = open.kernel();
    LedgerView ledger = kernel.ledger();
    long covered = ledger.latestCheckpoint().map(Checkpoint::size).orElse(0L);
    if (ledger.treeSize() > covered) {
      kernel.checkpoint();
    }
  }

  /** Returns why cells were not taken in. */
  private TreeMap<Integer, WritException> state() {
    TreeMap<Integer, LedgerView> logs = new TreeMap<>();
    TreeMap<Integer, WritException> refused = new TreeMap<>();
    Home home = open.home();
    try {
      for (int cell = 1; cell < home.cells() && !thread.isShutdown(); cell++) {
        try {
          logs.put(cell, OpenHome.read(home.inCell(cell)));
        } catch (WritException e) {
          refused.put(cell, e);
        }
      }
      CellRootsOutcome stated = open.kernel().cells().state(logs);
      refused.putAll(stated.refused());
      return refused;
    } finally {
      logs.values().forEach(LedgerView::close);
    }
  }

  private void tell(TreeMap<Integer, WritException> refused) {
    refused.forEach((cell, why) -> {
      String code = why.code().code();
      if (!code.equals(told.put(cell, code))) {
        log.refused(NOT_STATED, new WritException(why.code(), "cell " + cell + ": " + why.found()));
      }
    });
    told.keySet().retainAll(refused.keySet());
  }

  /** Ends what is at work; what the database does not answer at once is left behind. */
  @Override
  public void close() {
    thread.shutdown();
    try {
      thread.awaitTermination(ENDS_WITHIN.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
