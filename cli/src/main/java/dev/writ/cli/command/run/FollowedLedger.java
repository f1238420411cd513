package dev.writ.cli.command.run;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Home;
import dev.writ.ledger.LedgerPlaces;
import dev.writ.ledger.LedgerView;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A ledger that another process may be writing, read again and again. Reading again opens RocksDB
 * anew, so it is done only where one of its files has changed.
 */
final class FollowedLedger {
  private final LedgerView ledger;
  private final Optional<Path> database;
  private TreeMap<String, String> seen;
  private OptionalLong size = OptionalLong.empty();

  FollowedLedger(Home home, LedgerView ledger) {
    this.ledger = ledger;
    this.database = LedgerPlaces.databaseDirectory(home.ledger());
    this.seen = new TreeMap<>();
  }

  /** Brings the view up to date; false where nothing was written since the last time. */
  boolean refresh() {
    if (database.isEmpty()) {
      return refreshElsewhere();
    }
    TreeMap<String, String> now =
        files(database.get()); // before reading: what is written meanwhile is seen next
    if (now.equals(seen)) {
      return false;
    }
    ledger.refresh();
    seen = now;
    return true;
  }

  /** The database has no files here: it is asked, which costs little. */
  private boolean refreshElsewhere() {
    ledger.refresh();
    OptionalLong now = OptionalLong.of(ledger.treeSize());
    boolean changed = !now.equals(size);
    size = now;
    return changed;
  }

  private static TreeMap<String, String> files(Path database) {
    TreeMap<String, String> found = new TreeMap<>();
    try (Stream<Path> all = Files.list(database)) {
      for (Path file : all.toList()) {
        found.put(file.getFileName().toString(), state(file));
      }
    } catch (IOException | UncheckedIOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, database + ": " + e.getMessage(), e);
    }
    return found;
  }

  private static String state(Path file) throws IOException {
    try {
      return Files.size(file) + " " + Files.getLastModifiedTime(file);
    } catch (NoSuchFileException e) {
      return "removed";
    }
  }
}
