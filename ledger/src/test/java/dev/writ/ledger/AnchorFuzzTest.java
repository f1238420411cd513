package dev.writ.ledger;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.time.Instant;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any bytes whatever: an anchor that is written as those very bytes, or a refusal. */
class AnchorFuzzTest {

  static Stream<byte[]> seeds() {
    Digest root = Digest.sha256(new byte[0]);
    return Stream.of(new Anchor("log.example/writ", 2, 100, root, Instant.EPOCH).toBytes());
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadIsWrittenBack(byte[] bytes) {
    Anchor anchor;
    try {
      anchor = Anchor.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    if (!Arrays.equals(anchor.toBytes(), bytes)) {
      throw new AssertionError("two spellings of one anchor");
    }
  }
}
