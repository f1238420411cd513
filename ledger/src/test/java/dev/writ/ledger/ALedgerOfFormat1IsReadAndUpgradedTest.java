package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.StoredForm;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import dev.writ.ledger.storage.Write;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A data directory whose rows are those that format 1 wrote: JSON events, envelopes and rows of
 * tables. It is read as it is, and the first writer makes it one of the current format.
 */
class ALedgerOfFormat1IsReadAndUpgradedTest {
  /** Of 32 bytes, like every digest in a row, and begins as a packed row would. */
  private static final byte[] ODD = ByteBuffer.allocate(32).put((byte) '{').put((byte) 2).array();

  private static final byte[] JSON =
      Fixture.bytes("{\"closed\":false,\"in_doubt\":0,\"run\":\"a\",\"tenant\":\"acme\"}");

  @TempDir Path home;
  private Checkpoint sealed;

  @BeforeEach
  void a_ledger_of_format_1() throws Exception {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(Fixture.opening("a")).await();
      for (int i = 0; i < 5; i++) {
        ledger.append(Fixture.step(ledger, Fixture.run("a"), "step " + i)).await();
      }
      ledger.append(new Batch().put("t", "json", JSON).put("t", "odd", ODD)).await();
      sealed = ledger.checkpoint();
    }
    try (Storage store = RocksStorage.open(home.resolve("data/db"));
        Write rows = store.newWrite()) {
      toFormat1(store, rows);
      Fixture.write(store, rows);
    }
    Files.writeString(home.resolve("data/FORMAT"), "writ-ledger 1\n");
  }

  private static void toFormat1(Storage store, Write rows) {
    EarlierFormat.allNodes(store, rows);
    List<Storage.Row> events = EarlierFormat.all(store, Family.EVENTS);
    assertThat(events).hasSize(6);
    for (Storage.Row row : events) {
      byte[] json = StoredForm.eventBytes(row.key(), row.value());
      rows.put(
          Family.EVENTS,
          row.key(),
          ByteBuffer.allocate(8 + json.length).put(row.value(), 0, 8).put(json).array());
    }
    for (Storage.Row row : EarlierFormat.all(store, Family.DOCUMENTS)) {
      rows.put(Family.DOCUMENTS, row.key(), StoredForm.document(row.value()).toBytes());
    }
    for (Storage.Row row : EarlierFormat.all(store, Family.TABLES)) {
      rows.put(Family.TABLES, row.key(), StoredForm.fromValue(row.value()));
    }
  }

  private void holds(LedgerView view) {
    List<Event> events = new ArrayList<>();
    view.events(Fixture.run("a"), 0, events::add);
    assertThat(events.subList(0, 6)).hasSize(6).startsWith(Fixture.first("a"));
    for (int i = 0; i < 5; i++) {
      Envelope document = Fixture.document("step " + i);
      assertThat(events.get(i + 1).body()).isEqualTo(document.id());
      assertThat(view.document(document.id()).orElseThrow().toBytes())
          .isEqualTo(document.toBytes());
    }
    assertThat(view.get("t", "json")).contains(JSON);
    assertThat(view.get("t", "odd")).contains(ODD);
    assertThat(view.root(sealed.size())).isEqualTo(sealed.root());
  }

  private String format() throws Exception {
    return Files.readString(home.resolve("data/FORMAT"));
  }

  private void isSound() {
    FsckReport report =
        Fsck.check(
            Fsck.Options.of(home.resolve("data"))
                .withLogKey(Fixture.LOG_KEY.verifyingKey())
                .withAnchor(config(home).anchor()));
    assertThat(report.problems()).isEmpty();
  }

  @Test
  void readers_and_fsck_read_it_and_leave_it_as_it_is() throws Exception {
    try (LedgerView view = Ledger.openReadOnly(home.resolve("data"))) {
      holds(view);
    }
    isSound();
    assertThat(format()).isEqualTo("writ-ledger 1\n");
  }

  @Test
  void a_writer_upgrades_it_and_both_forms_stand_beside_each_other() throws Exception {
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(format()).isEqualTo("writ-ledger 3\n");
      holds(ledger);
      ledger.append(Fixture.step(ledger, Fixture.run("a"), "new")).await();
      ledger
          .append(new Batch().put("t", "json", JSON).document(Fixture.document("step 1")))
          .await();
      holds(ledger);
      assertThat(ledger.document(Fixture.document("new").id())).isPresent();
    }
    try (Storage store = RocksStorage.open(home.resolve("data/db"))) {
      assertThat(row(store, "step 1")).startsWith('{'); // the first one stays
      assertThat(row(store, "new")).startsWith(2);
    }
    isSound();
    try (Ledger ledger = Ledger.open(config(home))) {
      holds(ledger);
    }
  }

  private static byte[] row(Storage store, String says) {
    Digest id = Fixture.document(says).id();
    return store.get(Family.DOCUMENTS, id.bytes()).orElseThrow();
  }

  @ParameterizedTest
  @EnumSource
  void a_disk_that_fails_at_the_upgrade_and_a_power_cut_leave_a_ledger_that_opens(
      CuttableDisk.Operation failing) throws Exception {
    CuttableDisk disk = new CuttableDisk(failing, 1, false);
    disk.settle(home);
    assertThatThrownBy(() -> Ledger.open(config(home).on(disk)).close())
        .isInstanceOf(WritException.class);
    assertThat(disk.hasFailed()).isTrue();
    disk.cut(home);
    assertThat(format()).isIn("writ-ledger 1\n", "writ-ledger 3\n");
    try (Ledger ledger = Ledger.open(config(home))) {
      holds(ledger);
    }
    assertThat(format()).isEqualTo("writ-ledger 3\n");
  }

  @Test
  void a_ledger_that_its_anchor_does_not_fit_is_not_upgraded() throws Exception {
    Files.delete(config(home).anchor());
    Refused.with(LedgerError.ANCHOR_MISSING, () -> Ledger.open(config(home)));
    assertThat(format()).isEqualTo("writ-ledger 1\n");
  }
}
