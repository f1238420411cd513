package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A package has one form, and is what an enrolled publisher signed. */
class AForgedPackageIsRefusedTest {
  private static final Instant NOW = Instant.parse("2026-06-01T00:00:00Z");
  private static final SigningKey PUBLISHER = SigningKey.generateEd25519(new SecureRandom());
  private static final SigningKey STRANGER = SigningKey.generateEd25519(new SecureRandom());
  private static final SigningKey AGENT = SigningKey.generateEd25519(new SecureRandom());

  @TempDir Path home;
  private ToolArchive archive;
  private Trust trust;

  @BeforeEach
  void aPackage() {
    Path folder = home.resolve("my-tool");
    Templates.make(Language.PYTHON, "my-tool", folder);
    archive = ToolArchive.of(ToolProject.open(folder));
    trust =
        Trust.of(
            List.of(
                enrolled(PUBLISHER, KeyRole.PUBLISHER, Optional.empty()),
                enrolled(AGENT, KeyRole.AGENT, Optional.of("acme"))));
  }

  private static TrustedKey enrolled(SigningKey key, KeyRole role, Optional<String> tenant) {
    return new TrustedKey(
        key.verifyingKey(),
        role,
        tenant,
        role.text(),
        NOW.minusSeconds(60),
        Optional.empty(),
        Optional.empty());
  }

  private static void refused(String code, byte[] bytes) {
    assertThatThrownBy(() -> ToolArchive.read(bytes)).hasMessageContaining(code);
  }

  /** An archive of one's own making: stored or not, in whatever order, with whatever names. */
  private byte[] zip(int method, String... entries) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.setMethod(method);
      for (String name : entries) {
        byte[] content =
            archive.project().files().getOrDefault(name, "x".getBytes(StandardCharsets.UTF_8));
        ZipEntry entry = new ZipEntry(name);
        if (method == ZipEntry.STORED) {
          entry.setSize(content.length);
          CRC32 crc = new CRC32();
          crc.update(content);
          entry.setCrc(crc.getValue());
        }
        zip.putNextEntry(entry);
        zip.write(content);
        zip.closeEntry();
      }
    }
    return bytes.toByteArray();
  }

  @Test
  void whatAPublisherSignedCounts() {
    ToolArchive read = ToolArchive.read(archive.signed(PUBLISHER).toBytes());
    assertThat(read.verify(trust, NOW))
        .extracting(TrustedKey::kid)
        .containsExactly(PUBLISHER.kid());
    assertThat(read.signed(PUBLISHER).toBytes()).isEqualTo(read.toBytes());
  }

  @Test
  void anythingElseDoesNot() {
    assertThatThrownBy(() -> archive.verify(trust, NOW)).hasMessageContaining("TOL-207");
    assertThatThrownBy(() -> archive.signed(STRANGER).verify(trust, NOW))
        .hasMessageContaining("CAN-052");
    assertThatThrownBy(() -> archive.signed(AGENT).verify(trust, NOW))
        .hasMessageContaining("CAN-053");
    Trust revoked = trust.withRevoked(PUBLISHER.kid(), NOW);
    assertThatThrownBy(() -> archive.signed(PUBLISHER).verify(revoked, NOW))
        .hasMessageContaining("CAN-055");
  }

  @Test
  void aFileThatChangedAfterSigningIsFound() {
    for (String path : archive.project().files().keySet()) {
      TreeMap<String, byte[]> files = new TreeMap<>(archive.project().files());
      byte[] longer = Arrays.copyOf(files.get(path), files.get(path).length + 1);
      longer[longer.length - 1] = '\n';
      files.put(path, longer);
      ToolArchive forged =
          new ToolArchive(ToolProject.of(files), archive.signed(PUBLISHER).signature());
      assertThatThrownBy(() -> ToolArchive.read(forged.toBytes()).verify(trust, NOW))
          .as(path)
          .hasMessageContaining("TOL-208");
    }
  }

  @Test
  void anArchiveHasOneForm() throws IOException {
    byte[] good = archive.toBytes();
    refused("TOL-206", Arrays.copyOf(good, good.length + 1));
    refused("TOL-206", Arrays.copyOf(good, good.length - 1));
    String[] names = archive.project().files().keySet().toArray(String[]::new);
    refused("TOL-206", zip(ZipEntry.DEFLATED, names));
    refused("TOL-206", zip(ZipEntry.STORED, names)); // dated today
    String[] turned = names.clone();
    turned[0] = names[1];
    turned[1] = names[0];
    refused("TOL-206", zip(ZipEntry.STORED, turned));
    for (String name :
        new String[] {"../x", "/x", "a/../x", "a//x", ".hidden", "a\\x", "x/", "a b", "é"}) {
      String[] more = Arrays.copyOf(names, names.length + 1);
      more[names.length] = name;
      refused("TOL-023", zip(ZipEntry.STORED, more));
    }
    refused("TOL-024", zip(ZipEntry.STORED, "tool.manifest"));
    refused("TOL-024", new byte[0]);
  }

  /** Any damage is refused by a code, or is no damage to what the archive says. */
  @Test
  void damageIsRefusedByACode() {
    long seed = Long.getLong("writ.seed", System.nanoTime());
    System.out.println("writ.seed=" + seed);
    Random random = new Random(seed);
    byte[] good = archive.signed(PUBLISHER).toBytes();
    for (int i = 0; i < 2_000; i++) {
      byte[] bad = good.clone();
      bad[random.nextInt(bad.length)] ^= (byte) (1 << random.nextInt(8));
      assertThatThrownBy(() -> ToolArchive.read(bad).verify(trust, NOW))
          .isInstanceOf(WritException.class);
    }
    assertThatCode(() -> ToolArchive.read(good).verify(trust, NOW)).doesNotThrowAnyException();
  }
}
