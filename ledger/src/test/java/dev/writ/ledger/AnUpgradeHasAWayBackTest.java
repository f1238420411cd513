package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.form.MetaRow;
import dev.writ.ledger.rocks.RocksStorage;
import dev.writ.ledger.storage.Family;
import dev.writ.ledger.storage.Storage;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Until something is written, an upgrade is undone byte for byte; after that never. */
class AnUpgradeHasAWayBackTest {
  @TempDir Path home;
  private Digest root;

  @BeforeEach
  void a_ledger_of_format_2() throws Exception {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(Fixture.opening("a")).await();
      ledger.append(Fixture.step(ledger, Fixture.run("a"), "before")).await();
      root = ledger.root();
    }
    EarlierFormat.format2(home);
  }

  private Path data() {
    return home.resolve("data");
  }

  private void upgrade() {
    Ledger.open(config(home)).close();
  }

  private String format() throws Exception {
    return Files.readString(data().resolve("FORMAT"));
  }

  private int back() {
    return WayBack.back(data(), config(home).anchor());
  }

  /** What is in tables and manifest; logs that nobody needs are not compared. */
  private static Map<String, Digest> tables(Path db) throws Exception {
    Map<String, Digest> tables = new TreeMap<>();
    try (Stream<Path> files = Files.list(db)) {
      for (Path file : files.toList()) {
        if (file.toString().endsWith(".sst")) {
          tables.put(file.getFileName().toString(), Digest.sha256(Files.readAllBytes(file)));
        }
      }
    }
    return tables;
  }

  @Test
  void where_nothing_was_written_since() throws Exception {
    assertThat(WayBack.kept(data())).isEmpty();
    upgrade();
    assertThat(format()).isEqualTo("writ-ledger 3\n");
    Map<String, Digest> kept = tables(data().resolve("before-2/db"));
    WayBack.Kept found = WayBack.kept(data()).orElseThrow();
    assertThat(found.format()).isEqualTo(2);
    assertThat(found.size()).isEqualTo(2);
    assertThat(found.isOpen()).isTrue();
    assertThat(back()).isEqualTo(2);
    assertThat(format()).isEqualTo("writ-ledger 2\n");
    assertThat(tables(data().resolve("db"))).isEqualTo(kept);
    try (Stream<Path> left = Files.list(data())) {
      assertThat(left.map(file -> file.getFileName().toString()))
          .containsExactlyInAnyOrder("FORMAT", "db", "blobs");
    }
    try (LedgerView view = Ledger.openReadOnly(data())) {
      assertThat(view.root()).isEqualTo(root);
    }
    upgrade(); // and once more
    assertThat(WayBack.kept(data()).orElseThrow().isOpen()).isTrue();
  }

  @Test
  void not_where_an_event_or_a_row_would_be_lost() throws Exception {
    upgrade();
    try (Ledger ledger = Ledger.open(config(home))) {
      Refused.with(LedgerError.LOCKED, this::back);
      ledger.append(new Batch().put("t", "k", new byte[] {1})).await();
      assertThat(WayBack.kept(data()).orElseThrow().isOpen()).as("beside a writer").isFalse();
    }
    Refused.with(LedgerError.WRITTEN_SINCE, this::back);
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(Fixture.step(ledger, Fixture.run("a"), "acknowledged")).await();
    }
    Refused.with(LedgerError.WRITTEN_SINCE, this::back);
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.treeSize()).isEqualTo(3);
      assertThat(format()).isEqualTo("writ-ledger 3\n");
    }
  }

  @Test
  void not_after_it_was_confirmed() {
    Refused.with(LedgerError.NO_WAY_BACK, () -> WayBack.confirm(data()));
    Refused.with(LedgerError.NO_WAY_BACK, this::back);
    upgrade();
    WayBack.confirm(data());
    assertThat(WayBack.kept(data())).isEmpty();
    Refused.with(LedgerError.NO_WAY_BACK, this::back);
    Ledger.open(config(home)).close();
  }

  @Test
  void a_crash_on_the_way_back_is_completed_by_the_next() throws Exception {
    upgrade();
    // As it is between the two renames.
    Files.writeString(data().resolve("FORMAT"), "writ-ledger 2\n");
    Files.move(data().resolve("db"), data().resolve("db.after"));
    Refused.with(LedgerError.CORRUPT, () -> Ledger.open(config(home)));
    assertThat(WayBack.kept(data()).orElseThrow().isOpen()).isFalse();
    assertThat(back()).isEqualTo(2);
    assertThat(data().resolve("db.after")).doesNotExist();
    try (LedgerView view = Ledger.openReadOnly(data())) {
      assertThat(view.root()).isEqualTo(root);
    }
  }

  @Test
  void what_an_interrupted_upgrade_kept_is_made_anew() throws Exception {
    DurableFiles.REAL.createDirectory(data().resolve("before-2"));
    DurableFiles.REAL.createDirectory(data().resolve("before-1"));
    assertThat(WayBack.kept(data())).isEmpty();
    upgrade();
    assertThat(data().resolve("before-1")).doesNotExist();
    assertThat(back()).isEqualTo(2);
  }

  @Test
  void a_deletion_of_contents_ends_it() throws Exception {
    upgrade();
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(Fixture.step(ledger, Fixture.run("a"), "says what is deleted")).await();
      ledger.append(new Batch().put("t", "k", new byte[] {1})).await();
    }
    try (Storage store = RocksStorage.open(data().resolve("db"));
        var rows = store.newWrite()) {
      rows.put(Family.DEFAULT, MetaRow.PURGE.key(), new byte[0]);
      Fixture.write(store, rows);
    }
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(data().resolve("before-2")).exists();
      ledger.purge();
      assertThat(data().resolve("before-2")).doesNotExist();
    }
  }
}
