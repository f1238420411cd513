package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.run;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.fsck.Fsck;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an opening writes into tables: nothing behind a writer that closed its ledger. */
class LogsOfAClosedLedgerStayTest {
  /** As many logs as may stay, and more openings than that. */
  private static final int OPENINGS = 12;

  @TempDir Path home;
  private int steps;

  @BeforeEach
  void create() {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(Fixture.opening("r")).await();
    }
    step();
  }

  private Path db() {
    return home.resolve("data/db");
  }

  private void step() {
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.append(Fixture.step(ledger, run("r"), "step " + steps++)).await();
    }
  }

  private TreeSet<String> files(String suffix) throws IOException {
    try (Stream<Path> all = Files.list(db())) {
      TreeSet<String> names = new TreeSet<>();
      all.map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(suffix))
          .forEach(names::add);
      return names;
    }
  }

  private void requireAllThere() {
    assertThat(Fsck.check(Fsck.Options.of(home.resolve("data"))).problems()).isEmpty();
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.head(run("r")).orElseThrow().seq()).isEqualTo(steps);
      for (int i = 0; i < steps; i++) {
        assertThat(ledger.document(Fixture.document("step " + i).id())).isPresent();
      }
    }
  }

  @Test
  void anOpeningWritesNoTablesAndItsRowsAreThere() throws IOException {
    TreeSet<String> before = files(".sst");
    step();
    step();
    assertThat(files(".sst")).isEqualTo(before);
    requireAllThere();
  }

  @Test
  void manyLogsGoIntoTables() throws IOException {
    TreeSet<String> before = files(".sst");
    for (int i = 0; i < OPENINGS; i++) {
      step();
    }
    assertThat(files(".sst")).isNotEqualTo(before);
    assertThat(files(".log")).hasSizeLessThan(OPENINGS);
    requireAllThere();
  }

  @Test
  void behindAWriterThatDidNotCloseEverythingGoesIntoTables() throws IOException {
    TreeSet<String> before = files(".sst");
    byte[] note = Files.readAllBytes(db().resolve("CLOSED"));
    // As if the next one had been killed: it began a log of its own, and left no note.
    step();
    Files.write(db().resolve("CLOSED"), note);
    step();
    assertThat(files(".sst")).hasSizeGreaterThan(before.size());
    requireAllThere();
  }

  @Test
  void aLogThatIsLongerThanItWasOrANoteThatIsGoneIsNotBelieved() throws IOException {
    TreeSet<String> before = files(".sst");
    Path last = db().resolve(files(".log").last());
    Files.write(last, new byte[] {0}, StandardOpenOption.APPEND);
    step();
    TreeSet<String> after = files(".sst");
    assertThat(after).hasSizeGreaterThan(before.size());
    Files.delete(db().resolve("CLOSED"));
    step();
    assertThat(files(".sst")).hasSizeGreaterThan(after.size());
    requireAllThere();
  }

  @Test
  void logsThatStayedHoldNothingBackWhenTheyAreMerged() throws IOException {
    step();
    step();
    List<String> stayed = List.copyOf(files(".log"));
    assertThat(stayed).hasSizeGreaterThan(2);
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.store.forgetDeleted();
      ledger.store.forgetUnused();
      ledger.append(Fixture.step(ledger, run("r"), "step " + steps++)).await();
    }
    assertThat(files(".log")).doesNotContainAnyElementsOf(stayed);
    requireAllThere();
  }

  @Test
  void whatIsCutOffIsNeverALogThatIsNeeded() {
    step();
    step();
    try (Ledger ledger = Ledger.open(config(home))) {
      ledger.store.forgetUnused(); // nothing is unused
      ledger.append(Fixture.step(ledger, run("r"), "step " + steps++)).await();
      ledger.store.forgetUnused();
    }
    requireAllThere();
  }

  /** RocksDB does not miss it, and the anchor's root is made of rows of the newest log. */
  @Test
  void aLogBetweenOthersThatIsGoneOrShorterRefusesTheOpening() throws IOException {
    step();
    step();
    Path between = db().resolve(List.copyOf(files(".log")).get(files(".log").size() - 2));
    byte[] whole = Files.readAllBytes(between);
    for (int left : new int[] {whole.length / 2, 0, -1}) {
      if (left < 0) {
        Files.delete(between);
      } else {
        Files.write(between, Arrays.copyOf(whole, left));
      }
      assertThatThrownBy(this::step)
          .isInstanceOf(WritException.class)
          .hasMessageContaining("LED-006")
          .hasMessageContaining(
              between.getFileName()
                  + " has "
                  + Math.max(0, left)
                  + " bytes of the "
                  + whole.length
                  + " that it was closed with");
      Fsck.Options options = Fsck.Options.of(home.resolve("data"));
      assertThat(Fsck.check(options.withAnchor(config(home).anchor())).problems()).isNotEmpty();
    }
    Files.write(between, whole);
    requireAllThere();
  }

  @Test
  void aNoteThatIsDamagedIsNotBelieved() throws IOException {
    step();
    for (String note : new String[] {"", "\n", "000001.log", "000001.log -1", "\u00ff 1"}) {
      Files.writeString(db().resolve("CLOSED"), note, StandardCharsets.ISO_8859_1);
      TreeSet<String> before = files(".sst");
      step();
      assertThat(files(".sst")).as(note).isNotEqualTo(before);
    }
    Files.delete(db().resolve("CLOSED"));
    Files.createDirectory(db().resolve("CLOSED"));
    requireAllThere();
  }
}
