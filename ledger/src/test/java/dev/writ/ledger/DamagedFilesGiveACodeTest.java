package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Damage is refused with a code or reported by fsck; it is never passed over, never a crash. */
class DamagedFilesGiveACodeTest {
  private static final long SEED = Long.getLong("writ.seed", 6);
  private static final int FLIPS = Integer.getInteger("writ.flips", 3);
  private static final List<String> CODES = List.of("LED-002", "LED-006", "LED-008", "LED-011");

  @TempDir Path home;
  private final Random random = new Random(SEED);

  @Test
  void every_file_of_the_database_truncated_flipped_emptied_and_removed() throws IOException {
    System.out.println("writ.seed=" + SEED);
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
      for (int i = 0; i < 50; i++) {
        ledger.append(step(ledger, run("a"), "step " + i).blob(Fixture.bytes("blob " + i)));
      }
      ledger.checkpoint();
    }
    // Opening turns the log into table files; the commits after it are in a log.
    Digest root;
    try (Ledger ledger = Ledger.open(config(home))) {
      for (int i = 0; i < 20; i++) {
        ledger.append(step(ledger, run("a"), "more " + i)).await();
      }
      root = ledger.root();
    }
    int damaged = 0;
    for (Path file : files()) {
      byte[] good = Files.readAllBytes(file);
      for (UnaryOperator<byte[]> damage : damages(good.length)) {
        Files.write(file, damage.apply(good.clone()));
        damaged += isDamaged(file + "", root) ? 1 : 0;
        Files.write(file, good);
      }
      Files.delete(file);
      damaged += isDamaged(file + " removed", root) ? 1 : 0;
      Files.write(file, good);
    }
    assertThat(damaged).as("how many kinds of damage were noticed").isGreaterThan(20);
    assertThat(isDamaged("whole again", root)).isFalse();
    Ledger.open(config(home)).close();
  }

  private List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(config(home).dir().resolve("db"))) {
      return files
          .filter(
              file -> file.getFileName().toString().matches(".*\\.(sst|log)|MANIFEST.*|CURRENT"))
          .filter(file -> file.toFile().length() > 0)
          .sorted()
          .toList();
    }
  }

  private List<UnaryOperator<byte[]>> damages(int length) {
    List<UnaryOperator<byte[]>> damages = new ArrayList<>();
    damages.add(bytes -> new byte[0]);
    damages.add(bytes -> Arrays.copyOf(bytes, bytes.length / 2));
    for (int i = 0; i < FLIPS; i++) {
      int at = random.nextInt(length);
      int bit = 1 << random.nextInt(8);
      damages.add(bytes -> {
        bytes[at] ^= (byte) bit;
        return bytes;
      });
    }
    return damages;
  }

  /** Reads the ledger as fsck does, on a copy's files; anything but a code of ours is a failure. */
  private boolean isDamaged(String what, Digest root) {
    try {
      FsckReport report =
          Fsck.check(Fsck.Options.of(config(home).dir()).withAnchor(config(home).anchor()));
      if (report.isSound()) {
        assertThat(report.root()).as(what).isEqualTo(root.toString());
        return false;
      }
      assertThat(report.problems().toString()).doesNotContain("Exception");
      return true;
    } catch (WritException e) {
      assertThat(CODES).as(what + ": " + e.getMessage()).contains(e.code().code());
      return true;
    } catch (RuntimeException e) {
      return fail(what, e);
    }
  }

  @Test
  void the_writer_refuses_a_lost_tail_and_a_broken_table() throws IOException {
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a")).await();
      for (int i = 0; i < 50; i++) {
        ledger.append(step(ledger, run("a"), "step " + i));
      }
    }
    Path log =
        files().stream()
            .filter(file -> file.toString().endsWith(".log"))
            .max((a, b) -> Long.compare(a.toFile().length(), b.toFile().length()))
            .orElseThrow();
    byte[] good = Files.readAllBytes(log);
    byte[] flipped = good.clone();
    flipped[3000] ^= 1;
    Files.write(log, flipped);
    // RocksDB takes a damaged record for the end of the log; the anchor knows better.
    Refused.with(LedgerError.ANCHOR_BEHIND, () -> Ledger.open(config(home)));
  }
}
