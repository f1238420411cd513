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
    refused("TOL-206", new byte[0]);
    refused("TOL-206", "writ_policy: 1\n".getBytes(StandardCharsets.UTF_8));
  }

  /** Patches what {@code ZipOutputStream} writes, at the first place of some bytes. */
  private static byte[] patched(byte[] good, String magic, int offset, int... values) {
    byte[] bad = good.clone();
    byte[] sought = magic.getBytes(StandardCharsets.ISO_8859_1);
    int at = 0;
    while (!Arrays.equals(bad, at, at + sought.length, sought, 0, sought.length)) {
      at++;
    }
    for (int i = 0; i < values.length; i++) {
      bad[at + offset + i] = (byte) values[i];
    }
    return bad;
  }

  private static final String LOCAL = "PK\3\4";
  private static final String CENTRAL = "PK\1\2";
  private static final String END = "PK\5\6";

  /** What only one of two readers would see: each differs from the one form. */
  @Test
  void anArchiveThatTwoReadersReadDifferentlyIsRefused() throws IOException {
    byte[] good = archive.toBytes();
    refused("TOL-206", patched(good, CENTRAL, 38, 0, 0, 0xff, 0xa1)); // a symbolic link
    refused("TOL-206", patched(good, CENTRAL, 38, 0, 0, 0xed, 0x89)); // setuid
    refused("TOL-206", patched(good, CENTRAL, 5, 3)); // made by UNIX
    refused("TOL-206", patched(good, CENTRAL, 46, 'X')); // another name in the directory
    refused("TOL-206", patched(good, CENTRAL, 20, 0xff, 0xff, 0xff, 0xff)); // zip64
    refused("TOL-206", patched(good, CENTRAL, 42, 1)); // begins elsewhere
    refused("TOL-206", patched(good, LOCAL, 6, 8)); // sizes follow the data
    refused("TOL-206", patched(good, LOCAL, 6, 1)); // encrypted
    refused("TOL-206", patched(good, LOCAL, 8, 99));
    refused("TOL-206", patched(good, LOCAL, 14, 0, 0, 0, 0)); // another checksum
    refused("TOL-206", patched(good, LOCAL, 18, 0xff, 0xff, 0xff, 0x7f)); // longer than all
    refused("TOL-206", patched(good, END, 8, 0xff, 0xff, 0xff, 0xff)); // zip64 counts
    refused("TOL-206", patched(good, END, 20, 1)); // a comment
    byte[] inFront = new byte[good.length + 4];
    System.arraycopy(good, 0, inFront, 4, good.length);
    refused("TOL-", inFront);
    byte[] twice = Arrays.copyOf(good, good.length * 2);
    System.arraycopy(good, 0, twice, good.length, good.length);
    refused("TOL-206", twice);
  }

  @Test
  void aBombIsRefusedBeforeItIsUnpacked() throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(bytes)) {
      zip.putNextEntry(new ZipEntry("a"));
      byte[] zeros = new byte[1 << 20];
      for (int i = 0; i < 200; i++) {
        zip.write(zeros);
      }
    }
    assertThat(bytes.size()).isLessThan(1 << 20);
    refused("TOL-206", bytes.toByteArray());
    String[] many = new String[1_002];
    Arrays.setAll(many, i -> "f" + i);
    refused("TOL-206", zip(ZipEntry.STORED, many));
  }

  @Test
  void aPathHasOneMeaningOnEverySystem() throws IOException {
    String[] names = archive.project().files().keySet().toArray(String[]::new);
    for (String name : new String[] {"TOOL.lock", "SRC/other.py", "src/Tool.py", "src"}) {
      String[] more = Arrays.copyOf(names, names.length + 1);
      more[names.length] = name;
      refused("TOL-023", zip(ZipEntry.STORED, more));
    }
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
