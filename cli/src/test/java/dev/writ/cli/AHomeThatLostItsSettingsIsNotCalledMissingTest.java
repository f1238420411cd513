package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Who lost one small file is not told to make another ledger, or to remove the one that is there.
 */
class AHomeThatLostItsSettingsIsNotCalledMissingTest {
  @TempDir Path dir;

  private OneHome home() {
    return new OneHome(dir.resolve("home"), Map.of("WRIT_SANDBOX_ENGINE", "none"));
  }

  private Run writ(String... arguments) {
    return home().writ(arguments);
  }

  private void toldToPutItBack(Run run) {
    assertThat(run.status()).isEqualTo(ExitCode.BROKEN_INPUT.status());
    assertThat(run.err())
        .startsWith("writ: CLI-002 ")
        .contains("writ.json", "put it back from a backup")
        .doesNotContain("writ init", "remove");
  }

  @Test
  void whatIsWrongIsTheFile() throws IOException {
    home().done("init");
    Path settings = dir.resolve("home/writ.json");
    byte[] content = Files.readAllBytes(settings);
    Files.delete(settings);
    toldToPutItBack(writ("receipts"));
    toldToPutItBack(writ("run", "js", "--param", "source=1"));
    toldToPutItBack(writ("init"));
    Files.createDirectory(settings);
    toldToPutItBack(writ("receipts"));
    toldToPutItBack(writ("init"));
    Files.delete(settings);
    assertThat(dir.resolve("home/ledger")).isDirectory();
    Files.write(settings, content);
    assertThat(writ("receipts").status()).isZero();
  }

  /** As after an edit by hand: what is there is no field that somebody forgot to give. */
  @Test
  void aMemberOfAnotherNameIsDamageOfTheFile() throws IOException {
    home().done("init");
    Path settings = dir.resolve("home/writ.json");
    String content = Files.readString(settings);
    for (String member : List.of("format", "origin", "tenant", "agent", "approver")) {
      Files.writeString(settings, content.replace('"' + member + '"', "\"other\""));
      toldToPutItBack(writ("receipts"));
      toldToPutItBack(writ("run", "js", "--param", "source=1"));
      assertThat(writ("doctor").out()).contains("bad", "writ.json", member);
    }
    Files.writeString(settings, content.replace("\"agent\":\"agent\"", "\"agent\":7"));
    toldToPutItBack(writ("run", "js", "--param", "source=1"));
    Files.writeString(settings, content);
    assertThat(writ("receipts").status()).isZero();
  }
}
