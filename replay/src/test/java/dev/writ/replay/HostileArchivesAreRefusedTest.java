package dev.writ.replay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.ErrorCode;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class HostileArchivesAreRefusedTest {
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
    Refusal.of(code, () -> BundleVerifier.verify(file, BundleVerifier.Options.UNPINNED, _ -> {}));
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
    refused(ReplayError.ENTRY_NAME, zip(ZipOutputStream.STORED, name));
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put(name, new byte[0]);
    Refusal.of(ReplayError.ENTRY_NAME, () -> Archive.write(entries));
  }

  @Test
  void compressedEntriesSoThatNothingCanGrow() throws Exception {
    refused(ReplayError.ARCHIVE_FORM, zip(ZipOutputStream.DEFLATED, "bundle.json"));
  }

  @Test
  void anArchiveOfAnotherWriter() throws Exception {
    refused(ReplayError.ARCHIVE_FORM, zip(ZipOutputStream.STORED, "bundle.json"));
  }

  @Test
  void twoEntriesOfOneName() {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put("a", new byte[] {1});
    entries.put("b", new byte[] {2});
    byte[] file = Archive.write(entries);
    for (int i = 0; i < file.length; i++) {
      if (file[i] == 'b') {
        file[i] = 'a';
      }
    }
    refused(ReplayError.ENTRY_TWICE, file);
  }

  @Test
  void entriesOutOfOrder() {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put("b", new byte[] {2});
    entries.put("c", new byte[] {2});
    byte[] file = Archive.write(entries);
    for (int i = 0; i < file.length; i++) {
      if (file[i] == 'c') {
        file[i] = 'a';
      }
    }
    refused(ReplayError.ARCHIVE_FORM, file);
  }

  /** A link is an entry whose external attributes say so; ours are all zero. */
  @Test
  void aLink() {
    byte[] file = one("bundle.json", new byte[10]);
    ByteBuffer.wrap(file)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(file.length - 22 - 46 - "bundle.json".length() + 38, 0xa1ff0000);
    refused(ReplayError.ARCHIVE_FORM, file);
  }

  @Test
  void bytesBetweenEntriesCommentsAndOverlappingDirectories() {
    byte[] file = one("bundle.json", new byte[10]);
    ByteArrayOutputStream between = new ByteArrayOutputStream();
    between.write(file, 0, 51);
    between.writeBytes("hidden".getBytes(StandardCharsets.US_ASCII));
    between.write(file, 51, file.length - 51);
    refused(ReplayError.ARCHIVE_FORM, between.toByteArray());
    byte[] offset = file.clone();
    offset[file.length - 22 - 46 - "bundle.json".length() + 42] = 1;
    refused(ReplayError.ARCHIVE_FORM, offset);
  }

  @Test
  void anEntryThatClaimsMoreThanThereIs() {
    byte[] file = one("bundle.json", new byte[10]);
    ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(22, -1);
    refused(ReplayError.ARCHIVE_TRUNCATED, file);
  }

  @Test
  void aWrongChecksumIsNamedAsThat() {
    byte[] file = one("bundle.json", new byte[10]);
    file[14] ^= 1;
    refused(ReplayError.ENTRY_CHECKSUM, file);
  }

  @Test
  void moreEntriesThanAreCounted() {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    for (int i = 0; i <= Archive.ENTRIES_MAX; i++) {
      entries.put("e" + i, new byte[0]);
    }
    Refusal.of(ReplayError.ARCHIVE_BOUNDS, () -> Archive.write(entries));
  }

  @Test
  void nothingAtAllAndWhatIsNoArchive() {
    refused(ReplayError.ARCHIVE_TRUNCATED, new byte[0]);
    refused(
        ReplayError.ARCHIVE_FORM,
        "{\"format\":1}, a bundle made by hand".getBytes(StandardCharsets.US_ASCII));
    refused(ReplayError.ENTRY_MISSING, one("other", new byte[0]));
  }

  private static byte[] one(String name, byte[] content) {
    TreeMap<String, byte[]> entries = new TreeMap<>();
    entries.put(name, content);
    byte[] file = Archive.write(entries);
    assertThat(Archive.read(file)).containsOnlyKeys(name);
    return file;
  }
}
