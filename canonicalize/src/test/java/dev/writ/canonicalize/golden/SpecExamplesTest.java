package dev.writ.canonicalize.golden;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.crypto.Speccheck;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.canonicalize.trust.Trust;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What spec/ shows is what the code takes. */
class SpecExamplesTest {
  private static String page(String name) throws IOException {
    return Files.readString(GoldenVectorsTest.ROOT.resolveSibling("spec").resolve(name));
  }

  private static byte[] block(String page, String label) throws IOException {
    Matcher found =
        Pattern.compile("^```" + label + "\n(.*?)\n```$", Pattern.DOTALL | Pattern.MULTILINE)
            .matcher(page(page));
    assertThat(found.find()).as(page + ": " + label).isTrue();
    return found.group(1).getBytes(StandardCharsets.UTF_8);
  }

  @Test
  void theEnvelopeVerifiesUnderTheTrustFile() throws IOException {
    Trust trust = Trust.parse(block("keys.md", "json trust"));
    Envelope envelope = Envelope.parse(block("envelope.md", "json envelope"));
    String type = PayloadTypes.of("receipt");
    assertThat(trust.verify(envelope, type, Instant.parse("2026-06-01T00:00:00Z"))).hasSize(1);
    assertThat(envelope.payload()).isEqualTo(block("envelope.md", "json payload"));
    assertThat(envelope.preAuthEncoding()).isEqualTo(block("envelope.md", "text pae"));
    assertThat(envelope.document()).isEqualTo(Jcs.parse(envelope.payload()));
  }

  @Test
  void theJwkHasItsKid() throws IOException {
    VerifyingKey key = VerifyingKey.fromJwk(Jcs.parse(block("keys.md", "json jwk")));
    assertThat(key.kid()).isEqualTo("kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k");
  }

  @Test
  void thePasskeySignedTheDocument() throws IOException {
    VerifyingKey key = VerifyingKey.fromJwk(Jcs.parse(block("webauthn.md", "json passkey")));
    byte[] entry = block("webauthn.md", "json entry");
    key.verify(
        Envelope.preAuthEncoding(PayloadTypes.of("approval"), block("envelope.md", "json payload")),
        entry);
    byte[] stated =
        StrictBase64.decodeUrl(
            "client_data", Fields.of("entry", Jcs.parse(entry)).string("client_data"));
    assertThat(stated).isEqualTo(block("webauthn.md", "json client"));
  }

  @Test
  void theEs256KeySignedTheDocument() throws IOException {
    VerifyingKey key = VerifyingKey.fromJwk(Jcs.parse(block("signatures.md", "json es256")));
    Envelope envelope = Envelope.parse(block("signatures.md", "json envelope"));
    assertThat(envelope.payload()).isEqualTo(block("envelope.md", "json payload"));
    key.verify(envelope.preAuthEncoding(), envelope.signatures().getFirst().bytes());
    assertThat(envelope.signatures().getFirst().kid()).isEqualTo(key.kid());
  }

  @Test
  void theKeyFileIsTheExecutorsTestKey(@TempDir Path dir) throws IOException {
    Path file = dir.resolve("key.pem");
    Files.write(file, block("keys.md", "text"));
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-------"));
    SigningKey key = KeyFiles.read(file, () -> null);
    Trust trust = Trust.parse(block("keys.md", "json trust"));
    assertThat(trust.key(key.kid()).orElseThrow().role()).isEqualTo(KeyRole.EXECUTOR);
  }

  @Test
  void theTableOfRolesIsTheCodes() throws IOException {
    String page = page("keys.md");
    for (KeyRole role : KeyRole.ALL) {
      if (!role.payloadTypes().isEmpty()) {
        String kinds =
            String.join(
                ", ",
                role.payloadTypes().stream()
                    .map(type -> type.substring("application/vnd.writ.".length()))
                    .map(type -> type.substring(0, type.length() - ".v1+json".length()))
                    .toList());
        assertThat(page).contains("| `" + role.text() + "` | " + kinds + " |");
      } else {
        assertThat(page).contains("| `" + role.text() + "` | ");
      }
    }
  }

  @Test
  void theTableOfSpeccheckVectorsIsWhatHappens() throws IOException {
    StringBuilder row = new StringBuilder("| accepted |");
    for (Speccheck vector : Speccheck.ALL) {
      row.append(' ').append(verdict(vector)).append(" |");
    }
    assertThat(page("signatures.md")).contains(row.toString());
  }

  private static String verdict(Speccheck vector) {
    VerifyingKey key;
    try {
      key = VerifyingKey.ed25519(vector.keyBytes());
    } catch (WritException e) {
      return "A weak";
    }
    try {
      key.verify(vector.messageBytes(), vector.signatureBytes());
      return "yes";
    } catch (WritException e) {
      return "no";
    }
  }
}
