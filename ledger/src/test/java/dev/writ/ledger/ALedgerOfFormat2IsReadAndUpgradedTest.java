package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.Keys;
import dev.writ.ledger.form.LogRow;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.ledger.merkle.Merkle;
import dev.writ.ledger.merkle.NodeSource;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A data directory whose rows of the log have all nodes, as format 2 wrote them. It goes on with
 * rows of one node, and every root and proof is the same.
 */
class ALedgerOfFormat2IsReadAndUpgradedTest {
  @TempDir Path home;

  /** A ledger of format 2 with so many events. */
  private void begin(int events) throws Exception {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(Fixture.opening("a")).await();
      append(ledger, 1, events);
      ledger.checkpoint();
    }
    EarlierFormat.format2(home);
  }

  private static void append(Ledger ledger, int from, int to) {
    for (int i = from; i < to; i++) {
      ledger.append(Fixture.step(ledger, Fixture.run("a"), "step " + i)).await();
    }
  }

  private static void holds(LedgerView view, int events) {
    List<Digest> leaves = new ArrayList<>();
    view.eventsByIndex(
        0, view.treeSize(), (_, event) -> leaves.add(Merkle.leafHash(event.toBytes())));
    assertThat(leaves).hasSize(events);
    NodeSource nodes = NodeSource.ofLeaves(leaves);
    for (int size = 0; size <= events; size++) {
      assertThat(view.root(size)).isEqualTo(Merkle.root(nodes, size));
      for (int i = 0; i < size; i++) {
        assertThat(view.inclusionProof(i, size)).isEqualTo(Merkle.inclusionProof(nodes, i, size));
        assertThat(view.consistencyProof(i, size))
            .isEqualTo(Merkle.consistencyProof(nodes, i, size));
      }
    }
    view.checkpoints(sealed -> assertThat(view.root(sealed.size())).isEqualTo(sealed.root()));
  }

  private String format() throws Exception {
    return Files.readString(home.resolve("data/FORMAT"));
  }

  private List<FsckReport.Problem> problems() {
    return Fsck.check(
            Fsck.Options.of(home.resolve("data"))
                .withLogKey(Fixture.LOG_KEY.verifyingKey())
                .withAnchor(config(home).anchor()))
        .problems();
  }

  @Test
  void readers_and_fsck_read_it_and_leave_it_as_it_is() throws Exception {
    begin(13);
    try (LedgerView view = Ledger.openReadOnly(home.resolve("data"))) {
      holds(view, 13);
    }
    assertThat(problems()).isEmpty();
    assertThat(format()).isEqualTo("writ-ledger 2\n");
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 7, 8, 11, 16})
  void a_writer_goes_on_with_rows_of_one_node(int events) throws Exception {
    begin(events);
    try (LedgerView beside = Ledger.openReadOnly(home.resolve("data"))) {
      try (Ledger ledger = Ledger.open(config(home))) {
        assertThat(format()).isEqualTo("writ-ledger 3\n");
        holds(ledger, events);
        ledger.append(new Batch().put("t", "k", new byte[] {1})).await(); // no event
        append(ledger, events, events + 5);
        holds(ledger, events + 5);
        beside.refresh();
        holds(beside, events + 5);
      }
      try (Ledger ledger = Ledger.open(config(home))) {
        holds(ledger, events + 5);
        append(ledger, events + 5, events + 17);
        ledger.checkpoint();
        holds(ledger, events + 17);
      }
    }
    try (Storage store = RocksStorage.open(home.resolve("data/db"))) {
      assertThat(LogRow.oneNodeFrom(store)).isEqualTo(events);
      for (Storage.Row row : EarlierFormat.all(store, Family.LOG)) {
        long index = Keys.number(row.key());
        int nodes = index < events ? 1 + Long.numberOfTrailingZeros(index + 1) : 1;
        byte[] key = Keys.event(Keys.run(Fixture.run("a")), index);
        assertThat(row.value()).hasSize(32 * nodes + key.length).endsWith(key);
      }
    }
    assertThat(problems()).isEmpty();
  }

  @Test
  void every_event_that_was_tampered_with_is_found_in_its_own_row() throws Exception {
    begin(9);
    try (Ledger ledger = Ledger.open(config(home))) {
      append(ledger, 9, 20);
    }
    Files.delete(config(home).anchor());
    for (int i = 0; i < 20; i++) {
      byte[] key = Keys.event(Keys.run(Fixture.run("a")), i);
      byte[] before;
      try (Storage store = RocksStorage.open(home.resolve("data/db"))) {
        before = store.get(Family.EVENTS, key).orElseThrow();
        put(store, key, edited(key, before));
      }
      String own = "log row " + i;
      assertThat(Fsck.check(Fsck.Options.of(home.resolve("data"))).problems())
          .anyMatch(problem ->
              problem.where().equals(own) && problem.found().startsWith("calculated node"));
      try (Storage store = RocksStorage.open(home.resolve("data/db"))) {
        put(store, key, before);
      }
    }
  }

  private static byte[] edited(byte[] key, byte[] row) {
    String text = new String(StoredForm.eventBytes(key, row), StandardCharsets.UTF_8);
    byte[] other = Fixture.bytes(text.replace("12:00:00.000Z", "12:00:00.001Z"));
    assertThat(other).isNotEqualTo(Fixture.bytes(text));
    return ByteBuffer.allocate(8 + other.length).put(row, 0, 8).put(other).array();
  }

  private static void put(Storage store, byte[] key, byte[] value) {
    try (Write rows = store.newWrite()) {
      rows.put(Family.EVENTS, key, value);
      Fixture.write(store, rows);
    }
  }

  @ParameterizedTest
  @EnumSource
  void a_disk_that_fails_at_the_upgrade_and_a_power_cut_leave_a_ledger_that_opens(
      CuttableDisk.Operation failing) throws Exception {
    begin(6);
    CuttableDisk disk = new CuttableDisk(failing, 1, false);
    disk.settle(home);
    assertThatThrownBy(() -> Ledger.open(config(home).on(disk)).close())
        .isInstanceOf(WritException.class);
    assertThat(disk.hasFailed()).isTrue();
    disk.cut(home);
    assertThat(format()).isIn("writ-ledger 2\n", "writ-ledger 3\n");
    try (Ledger ledger = Ledger.open(config(home))) {
      append(ledger, 6, 8);
      holds(ledger, 8);
    }
    assertThat(format()).isEqualTo("writ-ledger 3\n");
    assertThat(problems()).isEmpty();
  }

  @Test
  void a_ledger_that_its_anchor_does_not_fit_is_not_upgraded() throws Exception {
    begin(3);
    Files.delete(config(home).anchor());
    Refused.with(LedgerError.ANCHOR_MISSING, () -> Ledger.open(config(home)));
    assertThat(format()).isEqualTo("writ-ledger 2\n");
  }
}
