package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A damaged place in a write-ahead log looks like its end. Whatever lies behind it is still there
 * when the place is put back.
 */
class ARefusedOpeningChangesNothingTest {
  private static final int STEPS = 4;

  @TempDir Path home;

  @BeforeEach
  void make() {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("r")).await();
    }
    for (int i = 0; i < STEPS; i++) {
      try (Ledger ledger = Ledger.open(config(home))) {
        ledger.append(Fixture.step(ledger, run("r"), "step " + i)).await();
      }
    }
  }

  /** Digests of all files. */
  private TreeMap<Path, Digest> files() throws IOException {
    TreeMap<Path, Digest> all = new TreeMap<>();
    try (Stream<Path> files = Files.walk(home.resolve("data"))) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        all.put(file, Digest.sha256(Files.readAllBytes(file)));
      }
    }
    return all;
  }

  /** A log between others, in whose middle one bit is another one. */
  private void damagedAndPutBack() throws IOException {
    Path log;
    try (Stream<Path> logs = Files.list(home.resolve("data/db"))) {
      List<Path> all = logs.filter(file -> file.toString().endsWith(".log")).sorted().toList();
      log = all.get(all.size() - 2);
    }
    byte[] whole = Files.readAllBytes(log);
    byte[] damaged = whole.clone();
    damaged[damaged.length / 2] ^= 1;
    Files.write(log, damaged);
    TreeMap<Path, Digest> before = files();
    for (int i = 0; i < 2; i++) {
      Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
      assertThat(files()).isEqualTo(before);
    }
    Files.write(log, whole);
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.head(run("r")).orElseThrow().seq()).isEqualTo(STEPS);
    }
    assertThat(
            Fsck.check(Fsck.Options.of(home.resolve("data")).withAnchor(config(home).anchor()))
                .problems())
        .isEmpty();
  }

  @Test
  void behindAWriterThatClosedIt() throws IOException {
    damagedAndPutBack();
  }

  @Test
  void behindOneThatWasKilled() throws IOException {
    Files.delete(home.resolve("data/db/CLOSED"));
    damagedAndPutBack();
  }

  /** It says that all the same. */
  @Test
  void theNextIncarnationTakesWhatIsThere() throws IOException {
    Path log = home.resolve("data/db");
    try (Stream<Path> logs = Files.list(log)) {
      log = logs.filter(file -> file.toString().endsWith(".log")).sorted().toList().getLast();
    }
    byte[] damaged = Files.readAllBytes(log);
    damaged[damaged.length / 2] ^= 1;
    Files.write(log, damaged);
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
    assertThat(Ledger.nextIncarnation(config(home))).isEqualTo(2);
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.head(run("r")).orElseThrow().seq()).isLessThan(STEPS);
    }
  }
}
