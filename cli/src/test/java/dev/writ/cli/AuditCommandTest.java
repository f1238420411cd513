package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.cli.base.ExitCode;
import dev.writ.executor.journal.Tables;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class AuditCommandTest {
  @TempDir Path dir;

  @Test
  void aDemoIsSoundAndAFreedRequestIsFound() {
    String home = dir.resolve("data").toString();
    assertThat(Run.of("--home", home, "demo").status()).isZero();
    Run sound = Run.of("--home", home, "--json", "audit");
    assertThat(sound.err()).isEmpty();
    assertThat(sound.status()).isZero();
    assertThat(sound.out()).contains("\"problems\":[]", "\"sound\":true");

    String request = free(dir.resolve("data"));
    Run broken = Run.of("--home", home, "audit");
    assertThat(broken.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(broken.out()).contains("PROBLEM", "EXE-959 row served " + request, "NOT SOUND");
  }

  @Test
  void aLedgerThatIsDamagedWhereItOpensIsToldApartFromOneThatIsAway() throws Exception {
    Path home = dir.resolve("data");
    assertThat(Run.of("--home", home.toString(), "init").status()).isZero();
    Path current;
    try (Stream<Path> all = Files.walk(home.resolve("ledger"))) {
      current = all.filter(file -> file.endsWith("CURRENT")).findFirst().orElseThrow();
    }
    Files.writeString(current, "nothing of the kind\n");
    String[][] reading = {
      {"fsck"}, {"audit"}, {"export", "main", "-o", dir.resolve("main.writ").toString()}
    };
    for (String[] line : reading) {
      Run damaged = in(home, line);
      assertThat(damaged.err()).contains("LED-006").doesNotContain("writ fsck");
      assertThat(damaged.status()).as(line[0]).isEqualTo(ExitCode.BROKEN_INPUT.status());
      assertThat(in(dir.resolve("none"), line).status())
          .as(line[0] + " where there is none")
          .isEqualTo(ExitCode.UNAVAILABLE.status());
    }
  }

  private static Run in(Path home, String... line) {
    return Run.of(
        Stream.concat(Stream.of("--home", home.toString()), Arrays.stream(line))
            .toArray(String[]::new));
  }

  /** Makes a request look as if it had not been served. */
  private static String free(Path home) {
    Path ledgerDir = home.resolve("ledger");
    List<String> served = new ArrayList<>();
    String origin;
    try (LedgerView view = Ledger.openReadOnly(ledgerDir)) {
      view.scan(
          Tables.SERVED, "", (key, value) -> served.add(key) && value.length == Digest.LENGTH);
      origin = view.origin();
    }
    LedgerConfig config =
        new LedgerConfig(
            ledgerDir,
            home.resolveSibling(home.getFileName() + ".anchor"),
            origin,
            KeyFiles.read(home.resolve("keys/log.pem"), () -> null),
            InstantSource.system());
    try (Ledger ledger = Ledger.open(config)) {
      ledger.append(new Batch().delete(Tables.SERVED, served.getFirst())).await();
    }
    return served.getFirst();
  }
}
