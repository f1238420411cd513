package dev.writ.bench;

import dev.writ.ledger.Ledger;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.ConfigOptions;
import org.rocksdb.DBOptions;
import org.rocksdb.OptionsUtil;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;

/**
 * What a ledger takes on the disk once its tables are merged, and how long it takes to open one
 * whose process was killed. Each is measured once: another process makes the ledger, and ends
 * without closing it.
 */
final class DiskSteps {
  private static final int BYTES_MAX = 2_500;
  private static final int EVENTS_OF_AN_EFFECT = 6;
  private static final Cost SECOND = new Cost(1e9, 1e9);

  private final Path folder;
  private final int effects;
  private Optional<Cost> opening = Optional.empty();
  private Optional<Cost> size = Optional.empty();
  private long done;

  /**
   * @param folder where the ledger is made
   * @param effects how many are done in it
   */
  DiskSteps(Path folder, int effects) {
    this.folder = folder;
    this.effects = effects;
  }

  List<Step> steps() {
    return List.of(
        new Step(
            "open a ledger after kill -9",
            "a second; " + effects + " effects",
            new BenchTarget.TimeAtMost(1),
            this::opening,
            () -> SECOND),
        new Step(
            "disk for an effect, merged, bytes",
            BYTES_MAX + " bytes",
            new BenchTarget.TimeAtMost(1),
            this::size,
            () -> Cost.ofBytes(BYTES_MAX)));
  }

  private Cost opening() {
    if (opening.isEmpty()) {
      make();
      Cost.Start start = Cost.Start.now();
      try (Ledger ledger = Ledger.open(Lab.config(folder))) {
        opening = Optional.of(start.each(1));
        done = ledger.treeSize() / EVENTS_OF_AN_EFFECT;
      }
    }
    return opening.get();
  }

  private void make() {
    try {
      Files.createDirectories(folder);
      Process process =
          new ProcessBuilder(Growth.command(folder, List.of(), "make", String.valueOf(effects)))
              .redirectErrorStream(true)
              .redirectOutput(folder.resolve("out").toFile())
              .start();
      if (process.waitFor() != 0) {
        throw new IllegalStateException(Files.readString(folder.resolve("out")));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("interrupted", e);
    }
  }

  private Cost size() {
    if (size.isEmpty()) {
      opening();
      try {
        size = Optional.of(Cost.ofBytes((double) merged() / done));
      } catch (RocksDBException e) {
        throw new IllegalStateException("the tables cannot be merged", e);
      }
    }
    return size.get();
  }

  /** Bytes of all tables, under the options that the ledger has stored with them. */
  private long merged() throws RocksDBException {
    String db = folder.resolve("ledger/db").toString();
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    long bytes = 0;
    try (ConfigOptions reading = new ConfigOptions();
        DBOptions options = new DBOptions()) {
      OptionsUtil.loadLatestOptions(reading, db, options, families);
      try (RocksDB tables = RocksDB.open(options, db, families, handles)) {
        for (ColumnFamilyHandle family : handles) {
          tables.compactRange(family);
          bytes += tables.getLongProperty(family, "rocksdb.live-sst-files-size");
        }
        handles.forEach(ColumnFamilyHandle::close);
      }
    }
    return bytes;
  }
}
