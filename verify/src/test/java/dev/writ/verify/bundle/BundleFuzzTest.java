package dev.writ.verify.bundle;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import java.io.IOException;
import java.util.Arrays;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Any bytes as a bundle: a refusal with a code, or an archive whose entries, packed again, are
 * these very bytes. What also verifies, without pinned keys, has a run with events.
 */
class BundleFuzzTest {

  static Stream<byte[]> seeds() throws IOException {
    byte[] small;
    try (TemporaryDirectory dir = TemporaryDirectory.create("writ-bundle-seed")) {
      small = Sample.small(dir.path());
    }
    TreeMap<String, byte[]> few = Packed.read(small);
    few.keySet()
        .removeIf(name -> !name.startsWith("log/") && !name.equals(BundleEntryNames.MANIFEST));
    return Stream.of(
        small, Packed.write(few), Packed.write(new TreeMap<>()), Arrays.copyOf(small, 1000));
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatOpensIsInItsOneForm(byte[] bytes) {
    try {
      if (!Arrays.equals(Packed.write(Packed.read(bytes)), bytes)) {
        throw new AssertionError("two forms of one bundle");
      }
      BundleVerifier.Verified verified =
          BundleVerifier.verify(bytes, BundleVerifier.Options.UNPINNED, _ -> {});
      if (verified.verified().isEmpty() || verified.manifest().size() < 1) {
        throw new AssertionError("verified nothing");
      }
    } catch (WritException refused) {
      // has a code
    }
  }
}
