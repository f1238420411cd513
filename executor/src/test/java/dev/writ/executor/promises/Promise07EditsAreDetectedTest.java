package dev.writ.executor.promises;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.document.RunClosing;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestHome;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.note.Checkpoint;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.rocksdb.ColumnFamilyDescriptor;
import org.rocksdb.ColumnFamilyHandle;
import org.rocksdb.DBOptions;
import org.rocksdb.RocksDB;
import org.rocksdb.RocksDBException;
import org.rocksdb.RocksIterator;

/**
 * Promise 7: edits, drops and reordering up to a checkpoint that somebody holds, and the truncation
 * of a closed run, are detected. Somebody with write access to the database tries.
 */
class Promise07EditsAreDetectedTest {
  @TempDir Path dir;
  @TempDir Path otherDir;

  /** Does something to the rows of one column family, behind the ledger's back. */
  private interface Tampering {
    void with(RocksDB db, ColumnFamilyHandle family, List<byte[]> keys) throws RocksDBException;
  }

  private static void tamper(TestHome home, String family, Tampering tampering)
      throws RocksDBException {
    String path = home.ledgerConfig().dir().resolve("db").toString();
    List<ColumnFamilyDescriptor> families = new ArrayList<>();
    for (String name :
        List.of(
            "default",
            "events",
            "log",
            "runs",
            "documents",
            "blobs",
            "files",
            "tables",
            "checkpoints")) {
      families.add(new ColumnFamilyDescriptor(name.getBytes(StandardCharsets.UTF_8)));
    }
    List<ColumnFamilyHandle> handles = new ArrayList<>();
    try (DBOptions options = new DBOptions();
        RocksDB db = RocksDB.open(options, path, families, handles)) {
      ColumnFamilyHandle handle =
          handles.stream().filter(h -> name(h).equals(family)).findFirst().orElseThrow();
      List<byte[]> keys = new ArrayList<>();
      try (RocksIterator rows = db.newIterator(handle)) {
        for (rows.seekToFirst(); rows.isValid(); rows.next()) {
          keys.add(rows.key());
        }
      }
      tampering.with(db, handle, keys);
      handles.forEach(ColumnFamilyHandle::close);
    }
  }

  private static String name(ColumnFamilyHandle handle) {
    try {
      return new String(handle.getName(), StandardCharsets.UTF_8);
    } catch (RocksDBException e) {
      throw new IllegalStateException(e);
    }
  }

  private TestHome worked() {
    TestHome home = TestHome.create(dir);
    home.submit(home.ask("alice").tool("mail"));
    home.submit(home.ask("alice").tool("calc").run("run-2"));
    home.kernel().checkpoint();
    assertThat(home.fsck().isSound()).isTrue();
    home.stop();
    return home;
  }

  @ParameterizedTest
  @ValueSource(strings = {"events", "log", "runs", "documents"})
  void every_dropped_row_is_found(String family) throws RocksDBException {
    TestHome home = worked();
    tamper(
        home,
        family,
        (db, handle, keys) -> {
          byte[] key = keys.get(keys.size() / 2);
          db.delete(handle, key);
        });
    assertThat(home.fsck().isSound()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"events", "log", "runs", "documents", "blobs", "checkpoints"})
  void every_edited_row_is_found(String family) throws RocksDBException {
    TestHome home = worked();
    tamper(
        home,
        family,
        (db, handle, keys) -> {
          byte[] key = keys.get(keys.size() / 2);
          byte[] value = db.get(handle, key);
          value[value.length / 2] ^= 1;
          db.put(handle, key, value);
        });
    assertThat(home.fsck().isSound()).isFalse();
  }

  @ParameterizedTest
  @ValueSource(strings = {"events", "log", "documents"})
  void two_exchanged_rows_are_found(String family) throws RocksDBException {
    TestHome home = worked();
    tamper(
        home,
        family,
        (db, handle, keys) -> {
          byte[] one = keys.get(keys.size() - 2);
          byte[] two = keys.getLast();
          byte[] first = db.get(handle, one);
          byte[] second = db.get(handle, two);
          assertThat(Arrays.equals(first, second)).isFalse();
          db.put(handle, one, second);
          db.put(handle, two, first);
        });
    assertThat(home.fsck().isSound()).isFalse();
  }

  @Test
  void a_dropped_output_is_not_served_as_if_there_had_been_none() throws RocksDBException {
    TestHome home = worked();
    tamper(
        home,
        "blobs",
        (db, handle, keys) -> {
          for (byte[] key : keys) {
            db.delete(handle, key);
          }
        });
    home.restart();
    home.log().stream()
        .filter(e -> e.kind().equals("receipt.signed"))
        .forEach(e ->
            assertThat(Refused.code(() -> home.kernel().receipt("acme", e.body())))
                .isEqualTo("LED-030"));
    home.stop();
  }

  @Test
  void an_edited_document_is_not_served() throws RocksDBException {
    TestHome home = worked();
    home.restart();
    List<byte[]> ids =
        home.log().stream()
            .filter(e -> e.kind().equals("receipt.signed"))
            .map(e -> e.body().bytes())
            .toList();
    home.stop();
    tamper(
        home,
        "documents",
        (db, handle, keys) -> {
          for (byte[] id : ids) {
            byte[] row = db.get(handle, id);
            row[row.length - 1] ^= 1; // in the payload, which comes last
            db.put(handle, id, row);
          }
        });
    home.restart();
    List<Event> receipts =
        home.log().stream().filter(e -> e.kind().equals("receipt.signed")).toList();
    assertThat(receipts).hasSize(2);
    for (Event event : receipts) {
      assertThat(Refused.code(() -> home.kernel().receipt("acme", event.body())))
          .containsAnyOf("LED-006", "CAN-");
    }
    home.stop();
  }

  /** Two histories of one size have two roots: who holds a checkpoint of one refuses the other. */
  @Test
  void another_history_does_not_continue_a_checkpoint() {
    try (TestHome home = TestHome.create(dir);
        TestHome fork = TestHome.create(otherDir)) {
      home.submit(home.ask("alice").params("{\"n\":1}"));
      Checkpoint held = home.kernel().checkpoint();
      home.submit(home.ask("alice").params("{\"n\":2}"));
      long size = home.ledger().treeSize();
      Merkle.verifyConsistency(
          held.size(),
          held.root(),
          size,
          home.ledger().root(),
          home.ledger().consistencyProof(held.size(), size));
      fork.submit(fork.ask("alice").params("{\"n\":3}"));
      fork.submit(fork.ask("alice").params("{\"n\":2}"));
      assertThat(fork.ledger().treeSize()).isEqualTo(size);
      assertThat(fork.ledger().root(held.size())).isNotEqualTo(held.root());
      assertThat(
              Refused.code(() ->
                  Merkle.verifyConsistency(
                      held.size(),
                      held.root(),
                      size,
                      fork.ledger().root(),
                      fork.ledger().consistencyProof(held.size(), size))))
          .isEqualTo("LED-042");
    }
  }

  @Test
  void a_closed_run_says_how_long_it_is_and_its_checkpoint_covers_it() {
    try (TestHome home = TestHome.create(dir)) {
      home.submit(home.ask("alice"));
      Checkpoint checkpoint = home.kernel().closeRun(home.close("acme", "run-1", "alice"));
      List<Event> events = home.events("acme", "run-1");
      var closing = RunClosing.read(home.document(events.getLast().body()).document());
      assertThat(closing.events()).isEqualTo(events.size() - 1);
      assertThat(closing.runHash()).isEqualTo(events.get(events.size() - 2).id());
      assertThat(closing.receipts()).isEqualTo(1);
      Optional<Event> before = Optional.empty();
      for (Event event : events) {
        assertThat(event.prev()).isEqualTo(before.map(Event::id));
        before = Optional.of(event);
        long index = home.ledger().indexOf(event.runId(), event.seq()).orElseThrow();
        Merkle.verifyInclusion(
            Merkle.leafHash(event.toBytes()),
            index,
            checkpoint.size(),
            home.ledger().inclusionProof(index, checkpoint.size()),
            checkpoint.root());
      }
    }
  }
}
