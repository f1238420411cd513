package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.testing.Refusal;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * There is no byte that could be called meaningless, so there is no list of exceptions here. Every
 * {@link #FILE_STEP}th byte of the file and every {@link #STEP}th inside the entries is flipped,
 * all with {@code -Dwrit.exhaustive=true}.
 */
class NoByteOfABundleIsWithoutMeaningTest {
  private static final boolean ALL = Boolean.getBoolean("writ.exhaustive");
  private static final int FILE_STEP = ALL ? 1 : 13;
  private static final int STEP = ALL ? 1 : 61;

  private static byte[] small;

  @BeforeAll
  static void take(@TempDir Path dir) {
    small = Sample.small(dir);
  }

  private static void refused(byte[] file, String what) {
    try {
      BundleVerifier.verify(file, BundleVerifier.Options.UNPINNED, _ -> {});
    } catch (WritException e) {
      assertThat(e.code().code()).as(what).isNotBlank();
      return;
    }
    fail(what + " passes");
  }

  @Test
  void everyFlippedByteOfTheFileIsRefused() {
    for (int at = 0; at < small.length; at += FILE_STEP) {
      byte[] flipped = small.clone();
      flipped[at] ^= (byte) (1 << at % 8);
      refused(flipped, "byte " + at + " of " + small.length);
    }
  }

  @Test
  void everyTruncationIsRefused() {
    for (int length = 0; length < small.length; length += STEP) {
      refused(Arrays.copyOf(small, length), "the first " + length + " bytes");
    }
    refused(Arrays.copyOf(small, small.length + 1), "a byte more");
  }

  /** The archive's checksums and lists made to fit, so that only what the bytes mean can refuse. */
  @Test
  void everyFlippedByteOfEveryEntryIsRefusedThoughAllChecksumsFit() {
    long flips = 0;
    TreeMap<String, byte[]> whole = Packed.read(small);
    for (var entry : whole.entrySet()) {
      String name = entry.getKey();
      for (int at = (int) (flips % STEP); at < entry.getValue().length; at += STEP) {
        byte[] flipped = entry.getValue().clone();
        flipped[at] ^= (byte) (1 << at % 8);
        TreeMap<String, byte[]> entries = new TreeMap<>(whole);
        entries.put(name, flipped);
        byte[] forged = Packed.write(entries);
        refused(forged, name + " byte " + at);
        flips++;
      }
    }
    assertThat(flips).isGreaterThan(small.length / (2L * STEP));
  }

  @Test
  void anotherFormatVersionIsNamedAsThat() {
    TreeMap<String, byte[]> entries = new TreeMap<>(Packed.read(small));
    String manifest = new String(entries.get(BundleEntryNames.MANIFEST), StandardCharsets.UTF_8);
    entries.put(
        BundleEntryNames.MANIFEST,
        Jcs.canonicalize(
            manifest.replace("\"format\":2", "\"format\":3").getBytes(StandardCharsets.UTF_8)));
    Refusal.of(BundleError.FORMAT_UNKNOWN, () -> Sample.verify(Packed.write(entries)));
  }
}
