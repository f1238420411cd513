package dev.writ.canonicalize.json;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;

/**
 * Any bytes whatever: all readers accept or refuse them alike, and what is accepted has one form,
 * of which erdtman's canonicalizer thinks the same. Anything thrown but a refusal is a find.
 */
class JcsFuzzTest {

  @FuzzTest(maxDuration = "10m")
  void anyBytesAreReadTheSameByAll(byte[] json) {
    RefusalsArePreciseTest.assertReadersAgree(json);
    try {
      SecondOpinion.check(json);
    } catch (WritException e) {
      if (e.code() == CanonicalizeError.SECOND_OPINION) {
        throw e;
      }
    }
  }
}
