package dev.writ.cli.command.storage;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.OneHome;
import dev.writ.cli.Run;
import dev.writ.cli.base.ExitCode;
import dev.writ.executor.SystemState;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.event.Event;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.InstantSource;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Whoever puts another key in the place of the log's does not get what it signed judged sound:
 * spec/storage.md, "fsck".
 */
class TheLogsKeyIsTheEnrolledOneTest {
  @TempDir Path dir;
  private OneHome home;

  @BeforeEach
  void init() {
    home = new OneHome(dir.resolve("home"));
    home.done("init");
    home.done("run", "js", "--param", "source=1");
  }

  private Path logKey() {
    return home.home().resolve("keys/log.pem");
  }

  /** Writes as somebody who has the files and the key that lies there, but no kernel. */
  private void write(Consumer<Ledger> work) {
    SigningKey key = KeyFiles.read(logKey(), () -> null);
    String origin;
    try (LedgerView view = Ledger.openReadOnly(home.home().resolve("ledger"))) {
      origin = view.origin();
    }
    LedgerConfig config =
        new LedgerConfig(
            home.home().resolve("ledger"),
            dir.resolve("home.anchor"),
            origin,
            key,
            InstantSource.system());
    try (Ledger ledger = Ledger.open(config)) {
      work.accept(ledger);
    }
  }

  private void swap() throws Exception {
    Files.copy(
        home.home().resolve("keys/operator.pem"), logKey(), StandardCopyOption.REPLACE_EXISTING);
  }

  @Test
  void aCheckpointOfAnotherKeyThatLiesInItsPlace() throws Exception {
    swap();
    assertThat(home.done("fsck").err()).as("what was signed before").contains("EXE-912");
    write(Ledger::checkpoint);
    Run run = home.writ("fsck");
    assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(run.out()).contains("checkpoint ", "LED-053", "NOT SOUND: 1 problems");
  }

  @Test
  void aSystemRunThatCannotBeReadVouchesForNoKey() {
    write(ledger -> {
      Event last = ledger.pendingHead(SystemState.RUN).orElseThrow();
      Event more = last.next("key.enrolled", last.body(), last.at(), Optional.empty());
      ledger.append(new Batch().event(more)).await();
      ledger.checkpoint();
    });
    Run run = home.writ("fsck");
    assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(run.out())
        .contains(
            "system run: it does not say whose checkpoints count: ",
            "signatures of checkpoints: no log key is known");
  }

  /** Who examines a ledger need not be able to sign for it. */
  @Test
  void noKeyIsNeededToLook() throws Exception {
    Files.delete(logKey());
    assertThat(home.done("fsck").out()).contains("sound: ");
    assertThat(home.writ("fsck", "--restored").err()).startsWith("writ: CAN-070 ");
  }

  @Test
  void aBackupOfItIsNoneEither() throws Exception {
    swap();
    write(Ledger::checkpoint);
    String folder = dir.resolve("backups").toString();
    home.done("backup", "--to", folder, "--without-secrets");
    Run run = home.writ("backup", "verify", folder);
    assertThat(run.err()).startsWith("writ: BAK-014 ").contains("LED-053");
  }
}
