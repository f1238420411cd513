package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ upgrade} tells whether there is a way back, and goes it only where nothing is lost.
 */
class AnUpgradeIsUndoneFromTheShellTest {
  @TempDir Path dir;

  private Run writ(String... args) {
    String[] all = new String[args.length + 2];
    all[0] = "--home";
    all[1] = dir.resolve("home").toString();
    System.arraycopy(args, 0, all, 2, args.length);
    return Run.of(all);
  }

  private String ok(String... args) {
    Run run = writ(args);
    assertThat(run.status()).as(run.err()).isZero();
    return run.out();
  }

  @Test
  void until_something_is_acknowledged() throws Exception {
    ok("init");
    assertThat(ok("upgrade", "status")).isEqualTo("format 3; nothing is kept of an earlier one\n");
    assertThat(writ("upgrade", "back").err()).startsWith("writ: LED-087 ");
    assertThat(writ("upgrade", "confirm").err()).startsWith("writ: LED-087 ");
    // Its rows are read under both formats: only the file says which.
    Files.writeString(dir.resolve("home/ledger/FORMAT"), "writ-ledger 2\n");
    ok("fsck");
    assertThat(ok("upgrade", "status")).startsWith("format 2; nothing is kept");
    ok("gc"); // opens the ledger for writing
    assertThat(ok("upgrade", "status"))
        .contains("format 3, upgraded from 2 at ", "nothing was written since", "way back: writ ");
    assertThat(ok("--json", "upgrade", "status")).contains("\"way_back\":true");
    assertThat(ok("upgrade", "back")).startsWith("format 2; nothing is kept");
    ok("run", "js", "--param", "source=6*7");
    assertThat(ok("upgrade", "status")).contains("there was written since", "no way back: ");
    Run refused = writ("upgrade", "back");
    assertThat(refused.err()).startsWith("writ: LED-088 ").contains("events");
    assertThat(ok("receipts")).contains("js");
    assertThat(ok("upgrade", "confirm")).startsWith("format 3; nothing is kept");
  }
}
