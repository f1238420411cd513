package dev.writ.cli.command.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.Run;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.OpenHome;
import dev.writ.ledger.LedgerView;
import dev.writ.postgres.PostgresServer;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The files of RocksDB that a move leaves do not tell whether anything was written since. */
class AMovedLedgerIsFollowedWhereItIsTest {
  @TempDir Path folder;

  private void done(String... args) {
    String[] all = new String[args.length + 2];
    all[0] = "--home";
    all[1] = folder.resolve("home").toString();
    System.arraycopy(args, 0, all, 2, args.length);
    Run run = Run.of(all);
    assertThat(run.status()).as(run.err() + run.out()).isZero();
  }

  @Test
  void whatIsWrittenAfterTheMoveIsSeen() {
    done("init");
    done("migrate", PostgresServer.shared().newAddress().toString());
    Home home = new Home(folder.resolve("home"), () -> null);
    try (LedgerView ledger = OpenHome.read(home)) {
      FollowedLedger followed = new FollowedLedger(home, ledger);
      assertThat(followed.refresh()).isTrue();
      assertThat(followed.refresh()).isFalse();
      long before = ledger.treeSize();
      done("run", "js", "--param", "source=6*7");
      assertThat(followed.refresh()).isTrue();
      assertThat(ledger.treeSize()).isGreaterThan(before);
    }
  }
}
