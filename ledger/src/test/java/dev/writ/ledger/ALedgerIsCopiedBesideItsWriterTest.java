package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A copy is the ledger as it was at one moment, whatever its writer does meanwhile. */
class ALedgerIsCopiedBesideItsWriterTest {
  @TempDir Path home;

  private Path copy(int number) {
    return home.resolve("copy-" + number);
  }

  private static BlobRef large(Ledger ledger, String text) throws Exception {
    try (BlobSink sink = ledger.newBlob()) {
      sink.write(text.repeat(100_000 / text.length()).getBytes(StandardCharsets.UTF_8));
      return sink.finish();
    }
  }

  private void soundAndContinued(Path copy, Ledger by, long atLeast) {
    FsckReport report =
        Fsck.check(Fsck.Options.of(copy).withLogKey(Fixture.LOG_KEY.verifyingKey()));
    assertThat(report.problems()).isEmpty();
    assertThat(report.treeSize()).isGreaterThanOrEqualTo(atLeast);
    try (LedgerView view = Ledger.openReadOnly(copy)) {
      assertThat(view.root()).isEqualTo(by.root(view.treeSize()));
    }
  }

  @Test
  void while_its_writer_commits_flushes_and_merges() throws Exception {
    AtomicBoolean over = new AtomicBoolean();
    AtomicInteger committed = new AtomicInteger(1);
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
      Thread writer =
          new Thread(() -> {
            while (!over.get()) {
              int n = committed.get();
              ledger.append(step(ledger, run("a"), "step " + n)).await();
              committed.incrementAndGet();
              if (n % 50 == 0) {
                // Deletes logs and tables that a copy may be about to read.
                ledger.store.expectMuch();
                ledger.store.forgetDeleted();
              }
            }
          });
      writer.start();
      try {
        for (int i = 0; i < 12; i++) {
          long acknowledged = committed.get();
          LedgerCopy.make(home.resolve("data"), copy(i));
          soundAndContinued(copy(i), ledger, acknowledged);
        }
      } finally {
        over.set(true);
        writer.join();
      }
    }
  }

  @Test
  void with_its_large_contents_which_are_the_same_files() throws Exception {
    try (Ledger ledger = Ledger.create(config(home))) {
      BlobRef kept = large(ledger, "kept");
      ledger.append(opening("a").blob(kept)).await();
      LedgerCopy.make(home.resolve("data"), copy(0));
      ledger.append(step(ledger, run("a"), "later")).await();
      String name = "blobs/" + kept.digest().hex().substring(0, 2) + "/" + kept.digest().hex();
      assertThat(Files.isSameFile(copy(0).resolve(name), home.resolve("data").resolve(name)))
          .isTrue();
      soundAndContinued(copy(0), ledger, 1);
      try (Stream<Path> files = Files.list(copy(0).resolve("db"))) {
        assertThat(files.map(file -> file.getFileName().toString()))
            .allMatch(file -> file.matches("[0-9]+\\.sst|CURRENT|IDENTITY|MANIFEST-[0-9]+"));
      }
    }
  }

  @Test
  void and_opens_as_a_ledger_that_goes_on() throws Exception {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
      LedgerCopy.make(home.resolve("data"), home.resolve("other/data"));
    }
    Path other = home.resolve("other");
    Refused.with(LedgerError.ANCHOR_MISSING, () -> Ledger.open(config(other)));
    assertThat(Ledger.nextIncarnation(config(other))).isEqualTo(2);
    try (Ledger ledger = Ledger.open(config(other))) {
      ledger.append(step(ledger, run("a"), "goes on")).await();
      assertThat(ledger.treeSize()).isEqualTo(2);
    }
  }

  @Test
  void a_missing_content_and_missing_tables_are_no_copy() throws Exception {
    Digest lost;
    try (Ledger ledger = Ledger.create(config(home))) {
      BlobRef blob = large(ledger, "lost");
      lost = blob.digest();
      ledger.append(opening("a").blob(blob)).await();
      Path file = home.resolve("data/blobs/" + lost.hex().substring(0, 2)).resolve(lost.hex());
      Files.delete(file);
      Refused.with(LedgerError.BLOB_CORRUPT, () -> LedgerCopy.make(home.resolve("data"), copy(0)));
      assertThat(copy(0)).doesNotExist();
    }
    try (RocksStorage store = RocksStorage.open(home.resolve("data/db"))) {
      store.compact(Family.EVENTS);
    }
    for (String table : tables(home.resolve("data/db"))) {
      Files.delete(home.resolve("data/db").resolve(table));
    }
    Refused.with(LedgerError.CORRUPT, () -> LedgerCopy.make(home.resolve("data"), copy(0)));
    assertThat(copy(0)).doesNotExist();
  }

  private static List<String> tables(Path db) throws Exception {
    try (Stream<Path> files = Files.list(db)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".sst"))
          .toList();
    }
  }

  @Test
  void a_ledger_whose_rows_are_elsewhere_is_refused_with_the_way_that_there_is() throws Exception {
    Ledger.create(config(home)).close();
    DurableFiles.REAL.write(
        home.resolve("data/database"),
        "postgresql://writ@db.example/writ?cell=0\n".getBytes(StandardCharsets.UTF_8));
    assertThatThrownBy(() -> LedgerCopy.make(home.resolve("data"), copy(0)))
        .hasMessageContaining("LED-079")
        .hasMessageContaining("pg_dump");
    assertThat(copy(0)).doesNotExist();
  }
}
