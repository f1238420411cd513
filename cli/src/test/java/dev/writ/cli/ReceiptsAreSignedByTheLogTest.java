package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code writ export --format cose-receipt}, and {@code scitt --receipts}: by the key of the home's
 * log, over nothing but what it signed before. {@code examples/receipts/verify.py} reads them.
 */
class ReceiptsAreSignedByTheLogTest {
  @TempDir Path dir;

  private Path kept;

  private Run writ(String... arguments) {
    return new OneHome(dir.resolve("home"), new TreeMap<>(Map.of("WRIT_SANDBOX_ENGINE", "none")))
        .writ(arguments);
  }

  private Run done(String... arguments) {
    Run run = writ(arguments);
    assertThat(run.status()).as(run.err()).isZero();
    return run;
  }

  @BeforeEach
  void aClosedRun() throws IOException {
    done("init");
    kept = Files.writeString(dir.resolve("kept.note"), done("checkpoint").out());
    done("run", "js", "--param", "source=6*7");
    done("close", "main");
  }

  private Run receipts(String name, String... options) {
    List<String> arguments =
        new ArrayList<>(
            List.of("export", "main", "--format", "cose-receipt", "-o", folder(name).toString()));
    arguments.addAll(List.of(options));
    return writ(arguments.toArray(String[]::new));
  }

  private Path folder(String name) {
    return dir.resolve(name);
  }

  private static Path only(Path folder) throws IOException {
    try (Stream<Path> files = Files.list(folder)) {
      List<Path> receipts =
          files
              .filter(file -> file.getFileName().toString().matches("[0-9a-f]{64}\\.cose"))
              .toList();
      assertThat(receipts).hasSize(1);
      return receipts.getFirst();
    }
  }

  private String verified(Path file, String... options) throws Exception {
    List<String> command =
        new ArrayList<>(
            List.of(
                "/usr/bin/python3",
                "../examples/receipts/verify.py",
                done("checkpoint", "--vkey").out().strip(),
                file.toString()));
    command.addAll(List.of(options));
    Process python = new ProcessBuilder(command).redirectErrorStream(true).start();
    String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(python.waitFor()).as(said).isZero();
    return said;
  }

  @Test
  void anotherProgramVerifiesWhatTheCommandWrites() throws Exception {
    Run run = receipts("receipts", "--checkpoint", kept.toString());
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).isEqualTo(folder("receipts") + ": 1 of format cose-receipt\n");
    Path receipt = only(folder("receipts"));
    String digest = receipt.getFileName().toString().replace(".cose", "");
    assertThat(verified(receipt)).contains("is receipt.signed of sha256:" + digest);
    assertThat(verified(folder("receipts").resolve("consistency.cose"), "--kept", kept.toString()))
        .contains("continues that of size");

    String statements = folder("statements").toString();
    String agent = dir.resolve("home/keys/agent.pem").toString();
    done("export", "main", "--format", "scitt", "--receipts", "--key", agent, "-o", statements);
    assertThat(verified(only(folder("statements")))).contains("verified: document " + digest);
  }

  @Test
  void onlyARunOfTheHomeHasReceipts() throws Exception {
    Path bundle = dir.resolve("main.writ");
    done("export", "main", "-o", bundle.toString());
    Run run =
        writ("export", bundle.toString(), "--format", "cose-receipt", "-o", folder("r").toString());
    assertThat(run.err()).startsWith("writ: CLI-001 ").contains("a run of it, not a file");
    assertThat(folder("r")).doesNotExist();
    assertThat(writ("export", "main", "--format", "csv", "--receipts").err())
        .startsWith("writ: CLI-001 ");
    assertThat(writ("export", "main", "--format", "csv", "--checkpoint", kept.toString()).err())
        .startsWith("writ: CLI-001 ");
    assertThat(writ("export", "main", "--receipts", "-o", bundle.toString()).err())
        .startsWith("writ: CLI-001 ");
  }

  /** A new key does not sign again what the old one signed, and a revoked one signs nothing. */
  @Test
  void aKeySignsNoRootThatItDidNotSignAsACheckpoint() throws Exception {
    done("key", "rotate", "log");
    assertThat(receipts("old").err()).startsWith("writ: CLI-108 ");
    assertThat(folder("old")).doesNotExist();
    done("checkpoint");
    assertThat(receipts("new", "--latest").status()).isZero();
    assertThat(verified(only(folder("new")))).contains("verified: event");
  }

  @Test
  void aReceiptLeadsFromAnOlderCheckpointToANewerOne() throws Exception {
    Path latest = Files.writeString(dir.resolve("latest.note"), done("checkpoint").out());
    assertThat(receipts("same", "--checkpoint", latest.toString()).err())
        .startsWith("writ: CLI-111 ");
    assertThat(folder("same")).doesNotExist();
    Path forged =
        Files.writeString(
            dir.resolve("forged.note"),
            Files.readString(kept)
                .replaceFirst("\n[A-Za-z0-9+/]{43}=\n", "\n" + "A".repeat(43) + "=\n"));
    assertThat(receipts("forged", "--checkpoint", forged.toString()).err())
        .startsWith("writ: RPL-042 ");
    assertThat(folder("forged")).doesNotExist();
  }

  @Test
  void aRevokedKeySignsNothing() {
    Run listed = done("key", "list", "--json");
    String log =
        Pattern.compile("\"kid\":\"([^\"]*)\"[^}]*\"writ_role\":\"log\"")
            .matcher(listed.out())
            .results()
            .map(found -> found.group(1))
            .findFirst()
            .orElseThrow();
    done("key", "revoke", log);
    Run run = receipts("revoked");
    assertThat(run.err()).startsWith("writ: EXE-912 ");
    assertThat(folder("revoked")).doesNotExist();
  }
}
