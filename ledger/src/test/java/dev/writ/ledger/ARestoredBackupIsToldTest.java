package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ARestoredBackupIsToldTest {
  @TempDir Path home;

  @BeforeEach
  void create() {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
    }
  }

  private void commit(String says) {
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(step(ledger, run("a"), says)).await();
    }
  }

  private void backUp(String from, String to) throws IOException {
    Path source = home.resolve(from);
    Path target = home.resolve(to);
    if (Files.exists(target)) {
      DurableFiles.deleteTree(target);
    }
    try (Stream<Path> files = Files.walk(source)) {
      for (Path file : files.toList()) {
        Files.copy(file, target.resolve(source.relativize(file).toString()));
      }
    }
  }

  @Test
  void a_ledger_with_fewer_entries_is_refused_until_an_operator_says_so() throws IOException {
    backUp("data", "backup");
    commit("lost");
    backUp("backup", "data");
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
    long next =
        Ledger.nextIncarnation(
            config(home),
            (ledger, incarnation) -> step(ledger, run("a"), "incarnation " + incarnation));
    assertThat(next).isEqualTo(2);
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.incarnation()).isEqualTo(2);
      assertThat(ledger.treeSize()).isEqualTo(2);
      assertThat(ledger.hasDocument(Fixture.document("incarnation 2").id())).isTrue();
      assertThat(ledger.hasDocument(Fixture.document("lost").id())).isFalse();
      ledger.append(step(ledger, run("a"), "goes on")).await();
    }
    Ledger.open(config(home)).close();
    assertThat(Anchor.read(config(home).anchor()).orElseThrow().treeSize()).isEqualTo(3);
  }

  @Test
  void an_anchor_that_a_crash_left_behind_is_brought_up_at_the_next_opening() throws IOException {
    backUp("data", "backup");
    backUp("anchor.json", "anchor-old");
    commit("committed, and then the power went");
    backUp("anchor-old", "anchor.json");
    Ledger.open(config(home)).close(); // hours of reading, and nothing to commit
    assertThat(Anchor.read(config(home).anchor()).orElseThrow().treeSize()).isEqualTo(2);
    backUp("backup", "data");
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
  }

  @Test
  void a_ledger_of_the_same_size_with_another_entry_is_refused() throws IOException {
    backUp("data", "backup");
    backUp("anchor.json", "anchor-old");
    commit("one history");
    backUp("anchor.json", "anchor-new");
    backUp("backup", "data");
    backUp("anchor-old", "anchor.json");
    commit("another history");
    backUp("anchor-new", "anchor.json");
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
    commitMore(); // Growing past the anchor's size must not hide it.
    backUp("anchor-new", "anchor.json");
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
  }

  private void commitMore() throws IOException {
    Files.delete(home.resolve("anchor.json"));
    Ledger.nextIncarnation(config(home), (ledger, incarnation) -> step(ledger, run("a"), "more"));
  }

  @Test
  void an_earlier_incarnation_is_refused_though_it_has_as_many_entries() throws IOException {
    backUp("data", "backup");
    Ledger.nextIncarnation(config(home));
    backUp("backup", "data");
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
    assertThat(Ledger.nextIncarnation(config(home))).as("never the same one twice").isEqualTo(3);
  }

  @Test
  void without_its_anchor_or_with_anothers_it_is_refused() throws IOException {
    Path anchor = config(home).anchor();
    byte[] good = Files.readAllBytes(anchor);
    Files.delete(anchor);
    Refused.with(LedgerError.ANCHOR_MISSING, () -> Ledger.open(config(home)));
    Files.writeString(anchor, "{}");
    Refused.with(LedgerError.ANCHOR_MALFORMED, () -> Ledger.open(config(home)));
    Refused.with(LedgerError.ANCHOR_MALFORMED, () -> Ledger.nextIncarnation(config(home)));
    Files.writeString(anchor, new String(good, "UTF-8").replace(Fixture.ORIGIN, "writ.example/x"));
    Refused.with(LedgerError.ANCHOR_OTHER, () -> Ledger.open(config(home)));
    Refused.with(LedgerError.ANCHOR_OTHER, () -> Ledger.nextIncarnation(config(home)));
    Files.write(anchor, good);
    Ledger.open(config(home)).close();
    Files.delete(anchor);
    assertThat(Ledger.nextIncarnation(config(home))).isEqualTo(2);
    Ledger.open(config(home)).close();
  }

  @Test
  void a_crash_between_anchor_and_incarnation_leaves_a_ledger_that_is_refused() {
    Anchor anchor = Anchor.read(config(home).anchor()).orElseThrow();
    new Anchor(anchor.origin(), 2, anchor.treeSize(), anchor.root(), anchor.time())
        .write(DurableFiles.REAL, config(home).anchor());
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
    assertThat(Ledger.nextIncarnation(config(home))).isEqualTo(3);
    Ledger.open(config(home)).close();
  }

  @Test
  void the_anchor_follows_without_closing() throws Exception {
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(step(ledger, run("a"), "followed")).await();
      // No clock here: the keeper's own thread must get there, however long the machine takes.
      while (Anchor.read(config(home).anchor()).orElseThrow().treeSize() < 2) {
        Thread.sleep(1);
      }
    }
  }
}
