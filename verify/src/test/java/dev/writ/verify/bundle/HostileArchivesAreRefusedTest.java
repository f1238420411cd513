package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Refusal;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostileArchivesAreRefusedTest {
  private static final SecondOpinion OPINION = new SecondOpinion();

  @AfterAll
  static void theSecondVerifierSaysTheSame(@TempDir Path dir) {
    OPINION.compare(dir);
  }

  private static byte[] zip(int method, String... names) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (ZipOutputStream zip = new ZipOutputStream(out)) {
      zip.setMethod(method);
      byte[] content = new byte[100_000];
      CRC32 crc = new CRC32();
      crc.update(content);
      for (String name : names) {
        ZipEntry entry = new ZipEntry(name);
        entry.setTime(0);
        if (method == ZipOutputStream.STORED) {
          entry.setSize(content.length);
          entry.setCrc(crc.getValue());
        }
        zip.putNextEntry(entry);
        if (!entry.isDirectory()) {
          zip.write(content);
        }
      }
    }
    return out.toByteArray();
  }

  private static void refused(ErrorCode code, byte[] file) {
    Refusal.of(code, () -> OPINION.verify(file, BundleVerifier.Options.UNPINNED));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "../evil",
        "a/../../evil",
        "/etc/passwd",
        "C:/evil",
        "a\\b",
        "./a",
        "a//b",
        ".hidden",
        "a/.git/config",
        "nul\u0000l",
        "caf\u00e9",
        "a b",
        "~/x",
      })
  void aNameThatLeadsElsewhere(String name) throws Exception {
    refused(BundleError.ENTRY_NAME, zip(ZipOutputStream.STORED, name));
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put(name, new byte[0]);
    Refusal.of(BundleError.ENTRY_NAME, () -> Packed.write(entries));
  }

  @Test
  void compressedEntriesSoThatNothingCanGrow() throws Exception {
    refused(BundleError.ARCHIVE_FORM, zip(ZipOutputStream.DEFLATED, "bundle.json"));
  }

  @Test
  void anArchiveOfAnotherWriter() throws Exception {
    refused(BundleError.ARCHIVE_FORM, zip(ZipOutputStream.STORED, "bundle.json"));
  }

  @Test
  void twoEntriesOfOneName() {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put("a", new byte[] {1});
    entries.put("b", new byte[] {2});
    byte[] file = Packed.write(entries);
    for (int i = 0; i < file.length; i++) {
      if (file[i] == 'b') {
        file[i] = 'a';
      }
    }
    refused(BundleError.ENTRY_TWICE, file);
  }

  @Test
  void entriesOutOfOrder() {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put("b", new byte[] {2});
    entries.put("c", new byte[] {2});
    byte[] file = Packed.write(entries);
    for (int i = 0; i < file.length; i++) {
      if (file[i] == 'c') {
        file[i] = 'a';
      }
    }
    refused(BundleError.ARCHIVE_FORM, file);
  }

  /** A link is an entry whose external attributes say so; ours are all zero. */
  @Test
  void aLink() {
    byte[] file = one("bundle.json", new byte[10]);
    ByteBuffer.wrap(file)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(file.length - 22 - 46 - "bundle.json".length() + 38, 0xa1ff0000);
    refused(BundleError.ARCHIVE_FORM, file);
  }

  @Test
  void bytesBetweenEntriesCommentsAndOverlappingDirectories() {
    byte[] file = one("bundle.json", new byte[10]);
    ByteArrayOutputStream between = new ByteArrayOutputStream();
    between.write(file, 0, 51);
    between.writeBytes("hidden".getBytes(StandardCharsets.US_ASCII));
    between.write(file, 51, file.length - 51);
    refused(BundleError.ARCHIVE_FORM, between.toByteArray());
    byte[] offset = file.clone();
    offset[file.length - 22 - 46 - "bundle.json".length() + 42] = 1;
    refused(BundleError.ARCHIVE_FORM, offset);
  }

  @Test
  void anEntryThatClaimsMoreThanThereIs() {
    byte[] file = one("bundle.json", new byte[10]);
    ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(22, -1);
    refused(BundleError.ARCHIVE_TRUNCATED, file);
  }

  @Test
  void aWrongChecksumIsNamedAsThat(@TempDir Path dir) {
    byte[] small = Sample.small(dir);
    // The first byte of the first entry, which is a blob.
    small[ArchiveForm.LOCAL_BYTES + BundleEntryNames.blob(Digest.sha256()).length()] ^= 1;
    refused(BundleError.ENTRY_CHECKSUM, small);
  }

  @Test
  void moreBytesOrEntriesThanSpecified() {
    Refusal.of(
        BundleError.ARCHIVE_BOUNDS,
        () -> ArchiveForm.requireBounds(0, ArchiveForm.ENTRIES_MAX + 1L));
    PositionedSource huge =
        new PositionedSource() {
          @Override
          public long size() {
            return ArchiveForm.BYTES_MAX + 1;
          }

          @Override
          public void read(long at, byte[] into, int from, int length) {
            throw new AssertionError("read");
          }
        };
    Refusal.of(BundleError.ARCHIVE_BOUNDS, () -> Archive.open(huge, BundleEntryNames::key));
  }

  /** On both sides of where ZIP counts in 64 bits, for the JDK's reader too. */
  @ParameterizedTest
  @ValueSource(ints = {65_534, 65_535, 65_536})
  void asManyEntriesAsTheOldFormCountsAndMore(int count, @TempDir Path dir) throws Exception {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      entries.put("e" + i, new byte[] {(byte) i});
    }
    byte[] file = Packed.write(entries);
    Path zip = Files.write(dir.resolve("many.zip"), file);
    try (ZipFile read = new ZipFile(zip.toFile());
        Archive ours = Archive.open(PositionedSource.open(zip), BundleEntryNames::key)) {
      assertThat(read.size()).isEqualTo(count);
      assertThat(ours.entries()).isEqualTo(count);
      int last = ours.find("e" + (count - 1), 0).orElseThrow();
      assertThat(ours.read(last, 1)).containsExactly((byte) (count - 1));
      assertThat(read.getInputStream(read.getEntry("e77")).readAllBytes()).containsExactly(77);
      assertThat(ours.find("e" + count, 0)).isEmpty();
    }
    if (count == ArchiveForm.ENTRIES_ZIP64) {
      int step = Boolean.getBoolean("writ.exhaustive") ? 1 : 5;
      for (int at = file.length - ArchiveForm.ENDS_BYTES; at < file.length; at += step) {
        file[at] ^= 1;
        assertThatThrownBy(() -> Archive.open(PositionedSource.of(file), BundleEntryNames::key))
            .isInstanceOf(WritException.class);
        file[at] ^= 1;
      }
    }
  }

  @Test
  void nothingAtAllAndWhatIsNoArchive() {
    refused(BundleError.ARCHIVE_TRUNCATED, new byte[0]);
    refused(
        BundleError.ARCHIVE_FORM,
        "{\"format\":1}, a bundle made by hand".getBytes(StandardCharsets.US_ASCII));
    refused(BundleError.ENTRY_MISSING, one("other", new byte[0]));
  }

  private static byte[] one(String name, byte[] content) {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put(name, content);
    byte[] file = Packed.write(entries);
    assertThat(Packed.read(file)).containsOnlyKeys(name);
    return file;
  }
}
