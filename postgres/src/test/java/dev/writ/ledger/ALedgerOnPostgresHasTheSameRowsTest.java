package dev.writ.ledger;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.fixture.Refused;
import dev.writ.ledger.content.BlobRef;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.rocks.Databases;
import dev.writ.ledger.rocks.RocksDatabase;
import dev.writ.ledger.storage.Database;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.postgres.PostgresServer;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.nio.file.Path;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The same ledger is written on RocksDB and on PostgreSQL, and compared row by row. */
class ALedgerOnPostgresHasTheSameRowsTest {
  private static final Instant AT = Instant.parse("2026-11-21T12:00:00Z");
  private static final SigningKey LOG_KEY = SigningKey.ed25519(new byte[32]);

  @TempDir Path dir;

  private final Database postgres = PostgresServer.shared().newDatabase();

  private LedgerConfig config(String name) {
    return config(name, "writ.example/log");
  }

  private LedgerConfig config(String name, String origin) {
    Path home = dir.resolve(name);
    return new LedgerConfig(
        home.resolve("data"),
        home.resolve("anchor.json"),
        origin,
        LOG_KEY,
        InstantSource.fixed(AT));
  }

  private static Envelope document(String says) {
    return Envelope.sign(
        "application/vnd.writ.receipt.v1+json",
        JsonValue.object().put("says", says).put("tenant", "acme").build(),
        LOG_KEY);
  }

  private static void fill(Ledger ledger, int from, int runs) {
    for (int run = from; run < from + runs; run++) {
      Envelope opening = document("run " + run);
      ledger
          .append(
              new Batch()
                  .event(
                      Event.first(
                          "acme", "run-" + run, "run.opened", opening.id(), AT, Optional.empty()))
                  .document(opening)
                  .blob(("blob " + run).getBytes(UTF_8))
                  .put("table", "key-" + run, ("{\"run\":\"" + run + "\"}").getBytes(UTF_8)))
          .await();
      List<Commit> commits = new ArrayList<>();
      for (int step = 0; step < 5; step++) {
        Envelope document = document("step " + step + " of " + run);
        Event head = ledger.pendingHead(new RunId("acme", "run-" + run)).orElseThrow();
        commits.add(
            ledger.append(
                new Batch()
                    .event(
                        head.next(
                            "receipt.signed", document.id(), AT.plusMillis(run), Optional.empty()))
                    .document(document)
                    .delete("table", "key-" + (run - 1))));
      }
      commits.forEach(Commit::await);
      if (run % 3 == 0) {
        ledger.checkpoint();
      }
    }
  }

  private static List<String> rows(Database database) {
    List<String> rows = new ArrayList<>();
    HexFormat hex = HexFormat.of();
    try (Storage storage = database.openReader()) {
      for (Family family : Family.values()) {
        storage.scan(
            family,
            new byte[0],
            new byte[0],
            (key, value) ->
                rows.add(family + " " + hex.formatHex(key) + " " + hex.formatHex(value)));
      }
    }
    return rows;
  }

  private static Commit appended(Ledger ledger, String run) {
    Envelope opening = document(run);
    return ledger.appendAwaited(
        new Batch()
            .event(Event.first("acme", run, "run.opened", opening.id(), AT, Optional.empty()))
            .document(opening));
  }

  /** The JDK closes a socket under a virtual thread that is interrupted. */
  @Test
  void aCallerThatIsInterruptedStopsNobodyElse() {
    try (Ledger ledger = Ledger.create(config("interrupted"), postgres)) {
      CompletableFuture<Boolean> still = new CompletableFuture<>();
      Thread.ofVirtual()
          .start(() -> {
            try {
              Commit commit = appended(ledger, "run-1");
              Thread.currentThread().interrupt();
              commit.await();
              still.complete(Thread.interrupted());
            } catch (RuntimeException | Error e) {
              still.completeExceptionally(e);
            }
          });
      assertThat(still.join()).isTrue();
      appended(ledger, "run-2").await();
      assertThat(ledger.treeSize()).isEqualTo(2);
    }
  }

  /** Neither the server nor its connections are to blame. */
  @Test
  void aReadOfAnInterruptedThreadSaysSo() {
    try (Ledger ledger = Ledger.create(config("reads"), postgres);
        Storage reader = postgres.openReader()) {
      appended(ledger, "run-1").await();
      CompletableFuture<String> told = new CompletableFuture<>();
      Thread.ofVirtual()
          .start(() -> {
            Thread.currentThread().interrupt();
            try {
              told.complete(
                  Refused.code(() -> reader.get(Family.TABLES, new byte[1]))
                      + " "
                      + Refused.code(() -> rows(postgres)));
            } catch (RuntimeException | Error e) {
              told.completeExceptionally(e);
            }
          });
      assertThat(told.join()).isEqualTo("LED-099 LED-099");
      assertThat(rows(postgres)).isNotEmpty();
    }
  }

  @Test
  void itsRowsRootsAndProofsAreTheSame() {
    LedgerConfig onRocks = config("rocks");
    LedgerConfig onPostgres = config("postgres");
    Digest root;
    try (Ledger ledger = Ledger.create(onRocks)) {
      fill(ledger, 0, 10);
    }
    try (Ledger ledger = Ledger.open(onRocks)) {
      fill(ledger, 10, 5);
      root = ledger.root();
    }
    try (Ledger ledger = Ledger.create(onPostgres, postgres)) {
      fill(ledger, 0, 10);
      assertThat(Refused.code(() -> Ledger.open(onPostgres, postgres))).isEqualTo("LED-003");
    }
    try (Ledger ledger = Ledger.open(onPostgres, postgres)) {
      fill(ledger, 10, 5);
      assertThat(ledger.treeSize()).isEqualTo(90);
      assertThat(ledger.root()).isEqualTo(root);
      assertThat(ledger.latestCheckpoint().orElseThrow().size()).isEqualTo(78);
      try (LedgerView view = Ledger.openReadOnly(onPostgres.dir(), postgres)) {
        assertThat(view.root()).isEqualTo(root);
        assertThat(view.blob(Digest.sha256("blob 3".getBytes(UTF_8)), 100))
            .isEqualTo("blob 3".getBytes(UTF_8));
        fill(ledger, 15, 1);
        view.refresh();
        assertThat(view.treeSize()).isEqualTo(96);
      }
    }
    try (Ledger ledger = Ledger.open(onRocks)) {
      fill(ledger, 15, 1);
    }
    Database rocks = new RocksDatabase(DurableFiles.REAL, onRocks.dir().resolve("db"));
    assertThat(rows(postgres)).isEqualTo(rows(rocks)).hasSizeGreaterThan(300);
  }

  /** Its directory says where its database is, and the rows move there and back. */
  @Test
  void aLedgerFindsItsDatabaseByTheAddressInItsDirectory() {
    URI address = PostgresServer.shared().newAddress();
    LedgerConfig config = config("moved");
    Digest root;
    try (Ledger ledger = Ledger.create(config)) {
      fill(ledger, 0, 5);
      root = ledger.root();
    }
    assertThat(Migration.move(config, address, _ -> {})).isGreaterThan(100);
    try (Ledger ledger = Ledger.open(config)) {
      assertThat(ledger.root()).isEqualTo(root);
      fill(ledger, 5, 5);
      root = ledger.root();
    }
    assertThat(Refused.code(() -> Migration.move(config, address, _ -> {}))).isEqualTo("LED-001");
    Migration.move(config, Migration.ROCKSDB, _ -> {});
    try (Ledger ledger = Ledger.open(config)) {
      assertThat(ledger.root()).isEqualTo(root);
    }
    // The rows of before are still there, and nobody takes them for nothing.
    assertThat(Refused.code(() -> Migration.move(config, address, _ -> {}))).isEqualTo("LED-001");
  }

  @Test
  void theCellOfAnotherLogIsRefused() {
    URI address = PostgresServer.shared().newAddress();
    Ledger.create(config("one"), address).close();
    LedgerConfig other = config("two", "other.example/log");
    assertThat(Refused.code(() -> Ledger.create(other, address))).isEqualTo("LED-001");
    LedgerConfig renamed = config("one", "other.example/log");
    assertThat(Refused.code(() -> Ledger.open(renamed))).isEqualTo("LED-009");
    Ledger.open(config("one")).close();
  }

  /** Large contents lie in the data directory, as they do beside RocksDB. */
  @Test
  void contentsAreStoredCollectedAndPurged() throws IOException {
    LedgerConfig config = config("postgres");
    try (Ledger ledger = Ledger.create(config, postgres)) {
      fill(ledger, 0, 1);
      BlobRef large;
      try (BlobSink sink = ledger.newBlob()) {
        ((OutputStream) sink).write(new byte[Batch.BLOB_BYTES_MAX + 1]);
        large = sink.finish();
        ledger.append(new Batch().blob(large)).await();
      }
      assertThat(ledger.blobSize(large.digest())).isEqualTo(Batch.BLOB_BYTES_MAX + 1);
      Digest small = Digest.sha256("blob 0".getBytes(UTF_8));
      Envelope statement = document("deletes it");
      Event head = ledger.pendingHead(new RunId("acme", "run-0")).orElseThrow();
      assertThat(
              ledger.delete(
                  List.of(small),
                  ledger.treeSize(),
                  AT.plusSeconds(1),
                  new Ledger.Deletion(
                      new Batch()
                          .event(head.next("content.deleted", statement.id(), AT, Optional.empty()))
                          .document(statement),
                      supplier -> supplier.get())))
          .isEmpty();
      assertThat(ledger.hasBlob(small)).isFalse();
      assertThat(ledger.isPurgePending()).isTrue();
      ledger.purge();
      assertThat(ledger.isPurgePending()).isFalse();
    }
    try (Ledger ledger = Ledger.open(config, postgres)) {
      assertThat(ledger.treeSize()).isEqualTo(7);
    }
  }

  /** An error is not undone, just as nothing is where the process is killed. */
  private static void moveKilled(LedgerConfig config, URI address) {
    assertThatThrownBy(() ->
            Migration.move(
                config,
                address,
                _ -> {
                  throw new StackOverflowError("killed");
                }))
        .isInstanceOf(StackOverflowError.class);
  }

  @Test
  void aMoveThatWasKilledIsBegunAnewByTheSameCall() {
    LedgerConfig here = config("moved");
    URI address = PostgresServer.shared().newAddress();
    try (Ledger ledger = Ledger.create(here)) {
      fill(ledger, 0, 10);
    }
    moveKilled(here, address);
    Digest root;
    try (Ledger ledger = Ledger.open(here)) {
      fill(ledger, 10, 1); // the log goes on where it is
      root = ledger.root();
    }
    moveKilled(here, address);
    Migration.move(here, address, _ -> {});
    assertThat(here.dir().resolve("database.next")).doesNotExist();
    try (LedgerView view = Ledger.openReadOnly(here.dir())) {
      assertThat(view.root()).isEqualTo(root);
    }
  }

  @Test
  void whatAnotherTookOverWhereAMoveWasKilledStays() {
    LedgerConfig here = config("moved");
    URI address = PostgresServer.shared().newAddress();
    try (Ledger ledger = Ledger.create(here)) {
      fill(ledger, 0, 2);
    }
    moveKilled(here, address);
    Database there = Databases.at(DurableFiles.REAL, here.dir(), address);
    there.open().close();
    assertThat(Refused.code(() -> Migration.move(here, address, _ -> {}))).isEqualTo("LED-001");
    assertThat(rows(there)).isNotEmpty();
  }
}
