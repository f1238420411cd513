package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.disk.Disk;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A ledger goes on in another database, and back, as the same log. */
class RowsMoveToAnotherDatabaseTest {
  private static final URI MEMORY = URI.create("memory:a");
  private static final URI ROCKSDB = URI.create("rocksdb:db");
  private static final byte[] LARGE = new byte[100_000];

  @TempDir Path home;

  @BeforeEach
  void aLedger() throws IOException {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
      for (int i = 0; i < 300; i++) {
        ledger.append(Fixture.step(ledger, run("a"), "step " + i)).await();
      }
      try (BlobSink sink = ledger.newBlob()) {
        sink.write(LARGE);
        ledger.append(new Batch().blob(sink.finish()).put("t", "key", new byte[] {1})).await();
      }
      ledger.checkpoint();
    }
  }

  @AfterEach
  void forget() {
    MemoryDatabases.MADE.clear();
    MemoryDatabases.forgetsARow = false;
  }

  private Digest root() {
    try (LedgerView view = Ledger.openReadOnly(config(home).dir())) {
      assertThat(view.get("t", "key")).isPresent();
      assertThat(view.blob(Digest.sha256(LARGE), LARGE.length)).isEqualTo(LARGE);
      return view.root();
    }
  }

  private void goOn(String says) {
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(Fixture.step(ledger, run("a"), says)).await();
    }
  }

  private FsckReport fsck() {
    return Fsck.check(
        Fsck.Options.of(config(home).dir())
            .withLogKey(Fixture.LOG_KEY.verifyingKey())
            .withAnchor(config(home).anchor()));
  }

  @Test
  void thereAndBackItIsTheSameLog() {
    Digest before = root();
    List<Long> told = new ArrayList<>();
    long rows = Migration.move(config(home), MEMORY, told::add);
    assertThat(rows).isGreaterThan(900).isEqualTo(told.getLast());
    assertThat(root()).isEqualTo(before);
    goOn("in memory");
    Digest there = root();
    assertThat(there).isNotEqualTo(before);
    assertThat(fsck().problems()).isEmpty();

    Migration.move(config(home), ROCKSDB, _ -> {});
    MemoryDatabases.MADE.clear(); // nothing reads it any more
    assertThat(root()).isEqualTo(there);
    goOn("in RocksDB again");
    assertThat(fsck().problems()).isEmpty();
  }

  @Test
  void nothingIsMovedOverSomethingElse() {
    Migration.move(config(home), MEMORY, _ -> {});
    Refused.with(LedgerError.EXISTS, () -> Migration.move(config(home), MEMORY, _ -> {}));
    Migration.move(config(home), ROCKSDB, _ -> {});
    Refused.with(LedgerError.EXISTS, () -> Migration.move(config(home), ROCKSDB, _ -> {}));
    Refused.with(LedgerError.EXISTS, () -> Migration.move(config(home), MEMORY, _ -> {}));
    goOn("untouched");
  }

  @Test
  void whatIsReadBackOtherwiseIsNotBelieved() {
    Digest before = root();
    MemoryDatabases.forgetsARow = true;
    Refused.with(LedgerError.CORRUPT, () -> Migration.move(config(home), MEMORY, _ -> {}));
    assertThat(MemoryDatabases.MADE).isEmpty();
    assertThat(config(home).dir().resolve("database")).doesNotExist();
    assertThat(root()).isEqualTo(before);
  }

  /** A crash may bring the new name to light, or not: each place that it can name has the rows. */
  @Test
  void aPlaceWhoseNameCouldNotBeSyncedKeepsItsRows() {
    Digest before = root();
    Path named = config(home).dir().resolve("database");
    Disk failing =
        new Disk() {
          @Override
          public void syncDirectory(Path directory) throws IOException {
            if (Files.exists(named)) {
              throw new IOException("Input/output error");
            }
            Disk.super.syncDirectory(directory);
          }
        };
    Refused.with(
        LedgerError.STORAGE, () -> Migration.move(config(home).on(failing), MEMORY, _ -> {}));
    assertThat(root()).isEqualTo(before);
  }

  @Test
  void nothingIsMovedFromUnderAWriter() {
    try (Ledger open = Ledger.open(config(home))) {
      Refused.with(LedgerError.LOCKED, () -> Migration.move(config(home), MEMORY, _ -> {}));
      open.append(opening("b")).await();
    }
    assertThat(MemoryDatabases.MADE).isEmpty();
  }

  @Test
  void whatTheRowsOfBeforeSayIsRefusedByTheAnchor() throws IOException {
    Migration.move(config(home), MEMORY, _ -> {});
    goOn("in memory");
    Files.delete(config(home).dir().resolve("database"));
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
  }

  @Test
  void anAddressThatNobodyKnowsIsRefused() throws IOException {
    Refused.with(
        LedgerError.DATABASE_UNKNOWN,
        () -> Migration.move(config(home), URI.create("oracle://db"), _ -> {}));
    Files.writeString(config(home).dir().resolve("database"), "oracle://db\n");
    Refused.with(LedgerError.DATABASE_UNKNOWN, () -> Ledger.open(config(home)));
    Files.writeString(config(home).dir().resolve("database"), "not an address\n");
    Refused.with(LedgerError.CORRUPT, () -> Ledger.open(config(home)));
  }

  @Test
  void aNewLedgerBeginsThere() {
    Path other = home.resolve("other");
    try (Ledger ledger = Ledger.create(config(other), URI.create("memory:b"))) {
      ledger.append(opening("a")).await();
    }
    assertThat(config(other).dir().resolve("db")).doesNotExist();
    try (LedgerView view = Ledger.openReadOnly(config(other).dir())) {
      assertThat(view.treeSize()).isEqualTo(1);
    }
    Refused.with(
        LedgerError.EXISTS,
        () -> Ledger.create(config(home.resolve("third")), URI.create("memory:b")));
    assertThat(home.resolve("third/data")).doesNotExist();
    assertThat(MemoryDatabases.MADE).containsKey("b");
  }
}
