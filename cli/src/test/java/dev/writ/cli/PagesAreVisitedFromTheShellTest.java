package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sandbox.host.Trees;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A page is pictured from the command line as the starter policy stands, and goes nowhere. */
class PagesAreVisitedFromTheShellTest {
  @TempDir Path dir;
  private Path sandboxes;

  @BeforeEach
  void place() throws Exception {
    sandboxes = Files.createTempDirectory(Path.of("/tmp"), "cli");
    Files.setPosixFilePermissions(sandboxes, PosixFilePermissions.fromString("rwx--x--x"));
    assertThat(writ("init").status()).isZero();
  }

  @AfterEach
  void remove() {
    Trees.remove(sandboxes);
  }

  private Run writ(String... args) {
    TreeMap<String, String> environment = new TreeMap<>();
    environment.put("WRIT_HOME", dir.resolve("home").toString());
    environment.put("WRIT_SANDBOX_DIR", sandboxes.resolve("s").toString());
    return Run.on("", "", environment, Commands.ALL, args);
  }

  @Test
  void aPageBecomesAPictureThatTheReceiptNames() {
    Run denied = writ("run", "web_browser", "--param", "url=http://127.0.0.1:8080/");
    assertThat(denied.status()).isNotZero();
    assertThat(denied.err()).contains("DENIED", "GRD-410");
    Run run =
        writ(
            "run",
            "web_browser",
            "--param",
            "html=<title>Bill</title><h1>42</h1>",
            "--param-json",
            "results=[\"png\",\"text\"]",
            "--param-json",
            "timeout_ms=20000",
            "--json");
    assertThat(run.status()).as(run.out() + run.err()).isZero();
    assertThat(run.out()).contains("\"title\":\"Bill\"", "\"name\":\"screenshot.png\"");
    String receipt = run.out().replaceFirst("(?s).*\"receipt_id\":\"(sha256:[0-9a-f]+)\".*", "$1");
    Run picture = writ("output", receipt, "--artifact", "screenshot.png");
    assertThat(picture.status()).isZero();
    assertThat(picture.out().getBytes(StandardCharsets.UTF_8)).hasSizeGreaterThan(1_000);
    assertThat(picture.out()).contains("PNG");
    assertThat(writ("output", receipt, "--artifact", "page.pdf").status()).isNotZero();
    assertThat(writ("audit").status()).isZero();
  }
}
