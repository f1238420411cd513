package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.cli.rules.Project;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConformCommandTest {
  private static final String VECTORS = Project.root().resolve("golden-vectors").toString();

  @TempDir Path dir;

  @Test
  void aConformingSuiteIsATableAndStatusZero() {
    Run run = Run.of("conform", "--vectors", VECTORS, "--suite", "merkle", "--suite", "pae");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out())
        .contains("merkle", "pae", "conforms", "0 failed, 0 unsupported", "vectors sha256:");
  }

  @Test
  void anIndexThatIsWrittenIsNamed() throws IOException {
    Path merkle = Files.createDirectory(dir.resolve("merkle"));
    Files.writeString(merkle.resolve("a.json"), "{}");
    Run run = Run.of("conform", "index", "--vectors", dir.toString());
    assertThat(run.status()).as(run.err()).isZero();
    Path index = Path.of(run.out().strip().replaceFirst("Wrote ", ""));
    assertThat(index).isRegularFile().hasParent(dir);
    assertThat(Run.of("conform", "index", "--vectors", dir.toString(), "--json").out())
        .contains("{\"file\":\"" + index);
  }

  @Test
  void anotherImplementationIsToldWhatItLacks() {
    String python = "python3 '" + Project.root().resolve("golden-vectors/example/adapter.py") + "'";
    Run good =
        Run.of("conform", "--vectors", VECTORS, "--suite", "canonicalize", "--command", python);
    assertThat(good.status()).as(good.err()).isZero();
    Run lacking = Run.of("conform", "--vectors", VECTORS, "--suite", "digest", "--command", python);
    assertThat(lacking.status()).isEqualTo(6);
    assertThat(lacking.out()).contains("does not conform", "no operation digest.parse");
    Run broken =
        Run.of(
            "conform", "--vectors", VECTORS, "--suite", "digest", "--command", "false", "--json");
    assertThat(broken.status()).isEqualTo(3);
    assertThat(broken.out()).startsWith("{\"conforms\":false,\"failed\":13,");
  }

  @Test
  void resultsAreWrittenForMachinesAndSigned() throws IOException {
    Path key = dir.resolve("key.pem");
    KeyFiles.write(key, SigningKey.ed25519(new byte[32]), null, new SecureRandom());
    Path xml = dir.resolve("r.xml");
    Path statement = dir.resolve("s.json");
    Run run =
        Run.of(
            "conform",
            "--vectors",
            VECTORS,
            "--suite",
            "pae",
            "--junit",
            xml.toString(),
            "--statement",
            statement.toString(),
            "--key",
            key.toString(),
            "--json");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).contains("\"conforms\":true", "\"passed\":3");
    assertThat(Files.readString(xml))
        .contains("<testsuite name=\"pae\" tests=\"3\" failures=\"0\"");
    Envelope envelope = Envelope.parse(Files.readAllBytes(statement));
    assertThat(new String(envelope.payload(), StandardCharsets.UTF_8))
        .contains("\"result\":\"PASSED\"");
    for (Path there : List.of(xml, statement)) {
      byte[] before = Files.readAllBytes(there);
      String option = there.equals(xml) ? "--junit" : "--statement";
      Run over =
          Run.of(
              "conform",
              "--vectors",
              VECTORS,
              "--suite",
              "pae",
              option,
              there.toString(),
              "--key",
              key.toString());
      assertThat(over.err()).startsWith("writ: CLI-023 ");
      assertThat(there).hasBinaryContent(before);
    }
  }

  @Test
  void whatCannotBeRunIsRefused() throws IOException {
    assertThat(Run.of("conform", "--vectors", VECTORS, "--suite", "no-such").err())
        .contains("CNF-006");
    assertThat(Run.of("conform", "--vectors", dir.toString()).err()).contains("CNF-001");
    assertThat(Run.of("conform", "--vectors", VECTORS, "--command", "/no/such").status())
        .isEqualTo(6);
    assertThat(Run.of("conform", "--vectors", VECTORS, "--profile", "L4").status()).isEqualTo(2);
    assertThat(Run.of("conform", "--vectors", VECTORS, "--key", "x").status()).isEqualTo(2);
    assertThat(Run.of("conform", "dance").status()).isEqualTo(2);
    Files.createDirectories(dir.resolve("pae"));
    Files.writeString(dir.resolve("pae/x.json"), "{}");
    assertThat(Run.of("conform", "index", "--vectors", dir.toString()).status()).isZero();
    Run malformed = Run.of("conform", "--vectors", dir.toString());
    assertThat(malformed.err()).contains("CNF-005");
    assertThat(malformed.status()).isEqualTo(4);
  }

  @Test
  void theAdapterAnswersEachLine() {
    Run run =
        Run.withInput(
            "{\"id\":\"a\",\"op\":\"digest\",\"input\":{\"bytes_b64\":\"\"}}\nnonsense\n",
            "conform",
            "adapter");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out().lines()).hasSize(2);
    assertThat(run.out()).contains("\"id\":\"a\",\"ok\":true", "\"code\":\"CAN-003\",\"id\":null");
  }
}
