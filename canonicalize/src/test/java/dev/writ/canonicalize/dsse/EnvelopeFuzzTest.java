package dev.writ.canonicalize.dsse;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import java.util.Arrays;

/** Any bytes whatever: an envelope that is written as those very bytes, or a refusal. */
class EnvelopeFuzzTest {

  @FuzzTest(maxDuration = "10m")
  void whatIsReadIsWrittenBack(byte[] bytes) {
    Envelope envelope;
    try {
      envelope = Envelope.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    if (!Arrays.equals(envelope.toBytes(), bytes)) {
      throw new AssertionError("two spellings of one envelope");
    }
  }
}
