package dev.writ.gateway;

import java.time.Instant;

/** Moves closed runs to the archive of an installation, some at a time. */
@FunctionalInterface
public interface RunArchiving {
  /**
   * What one round did.
   *
   * @param runs that the archive has now
   * @param kept runs that could not be archived
   * @param contents that left the ledger
   * @param bytes of them
   * @param isMore whether further runs can be archived at once
   */
  record Round(long runs, long kept, long contents, long bytes, boolean isMore) {
    /** Where there is nothing to archive, or nowhere to. */
    public static final Round NOTHING = new Round(0, 0, 0, 0, false);
  }

  /**
   * Archives runs that policy lets be archived.
   *
   * @param now the time by which their age is computed
   */
  Round next(Instant now);
}
