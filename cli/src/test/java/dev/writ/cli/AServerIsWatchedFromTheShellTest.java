package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.base.ExitCode;
import dev.writ.cli.term.Text;
import java.io.BufferedReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code writ top} shows what a server counts, to whom policy lets see it. */
class AServerIsWatchedFromTheShellTest {
  @TempDir Path folder;

  private Run top(String terminals, String... args) {
    String[] all = new String[args.length + 1];
    all[0] = "top";
    System.arraycopy(args, 0, all, 1, args.length);
    return Run.on(
        "",
        terminals,
        Map.of("WRIT_HOME", home(), "NO_COLOR", "1", "COLUMNS", "80"),
        Commands.ALL,
        all);
  }

  private String home() {
    return folder.resolve("home").toString();
  }

  private Process serve() throws Exception {
    ProcessBuilder builder =
        new ProcessBuilder(OwnProcess.writ("--home", home(), "serve", "--json", "--port", "0"));
    builder.environment().put("WRIT_SANDBOX_ENGINE", "none");
    return builder.redirectError(folder.resolve("log").toFile()).start();
  }

  @Test
  void whatItCounts() throws Exception {
    assertThat(Run.of("--home", home(), "init").status()).isZero();
    assertThat(top("").err()).startsWith("writ: CLI-030 ").contains("writ serve");
    assertThat(Run.of("--home", home(), "run", "js", "--param", "source=6*7").status()).isZero();
    Process server = serve();
    try (BufferedReader out = server.inputReader(StandardCharsets.UTF_8)) {
      assertThat(out.readLine()).contains("url");
      Run nobody = top("", "--as", "agent");
      assertThat(nobody.status()).isNotZero();
      assertThat(nobody.err()).startsWith("writ: GWY-100 ");
      assertThat(nobody.out()).isEmpty();
      Run seen = top("");
      assertThat(seen.status()).as(seen.err()).isZero();
      assertThat(seen.out())
          .contains("1 in an hour", "1 allowed, 0 denied", "0 for an approval", "js", "p99 ms")
          .doesNotContain("\u001b");
      assertThat(top("out", "--once").out().lines()).allMatch(line -> Text.width(line) <= 80);
      assertThat(top("out", "--json").out()).contains("\"waiting\":0", "\"statistics\":{");
      Path wrong = Files.writeString(folder.resolve("token"), "writ_none\n");
      Run stranger = top("", "--token", wrong.toString());
      assertThat(stranger.status()).isNotEqualTo(ExitCode.OK.status());
      assertThat(stranger.err()).startsWith("writ: GWY-020 ").doesNotContain("writ_none");
    } finally {
      server.destroy();
      assertThat(server.waitFor(1, TimeUnit.MINUTES)).isTrue();
    }
  }
}
