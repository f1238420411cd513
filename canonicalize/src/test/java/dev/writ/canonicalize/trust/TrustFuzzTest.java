package dev.writ.canonicalize.trust;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;

/** Any bytes whatever: a trust file that writes and reads back as itself, or a refusal. */
class TrustFuzzTest {

  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAsItself(byte[] bytes) {
    Trust trust;
    try {
      trust = Trust.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    if (!Trust.parse(Jcs.write(trust.toJson())).equals(trust)) {
      throw new AssertionError("a trust file that changes when it is written");
    }
  }
}
