package dev.writ.cli.home;

import dev.writ.embed.home.HomeArchive;
import dev.writ.embed.home.OpenHome;
import dev.writ.executor.Kernel;
import dev.writ.executor.error.ExecutorError;
import dev.writ.gateway.RunArchiving;
import dev.writ.ledger.event.RunId;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;

/**
 * Archives closed runs of a home that a server has open (spec/retention.md, Archive), where the
 * home has an archive. For one thread.
 */
public final class ArchivingServer implements RunArchiving {
  /** Each round reads the whole log once. */
  private static final int RUNS_MAX = 200;

  private final OpenHome open;

  /** Runs that were refused: each try writes and verifies a whole bundle. */
  private final TreeSet<RunId> refused = new TreeSet<>();

  /** Runs whose contents others use, and that can go together with those. */
  private final TreeSet<RunId> shared = new TreeSet<>();

  public ArchivingServer(OpenHome open) {
    this.open = open;
  }

  @Override
  public Round next(Instant now) {
    HomeArchive archive = new HomeArchive(open.home());
    Kernel kernel = open.kernel();
    if (archive.address().isEmpty()) {
      return Round.NOTHING;
    }
    List<RunId> due =
        HomeArchive.due(
            kernel.ledger(),
            kernel.system(),
            now,
            run -> refused.contains(run) || shared.contains(run),
            RUNS_MAX);
    if (due.isEmpty()) {
      return Round.NOTHING;
    }
    boolean isMore = due.size() == RUNS_MAX;
    List<RunId> all = new ArrayList<>(due);
    all.addAll(shared);
    HomeArchive.Moved moved = archive.moveEach(open, all, now);
    shared.clear();
    for (HomeArchive.Kept kept : moved.kept()) {
      boolean mayGoLater = kept.why().code() == ExecutorError.ARCHIVE_SHARED;
      (mayGoLater ? shared : refused).add(kept.run());
    }
    return new Round(
        moved.stored().size(),
        moved.kept().size(),
        moved.deleted().contents(),
        moved.deleted().bytes(),
        isMore);
  }
}
