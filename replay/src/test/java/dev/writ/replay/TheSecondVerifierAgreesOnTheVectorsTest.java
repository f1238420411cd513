package dev.writ.replay;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Every vector of the formats: what JavaScript makes of it, written from spec/ alone. */
class TheSecondVerifierAgreesOnTheVectorsTest {
  @Test
  void onEveryVectorAndInBothOfItsSignatureEngines() {
    Node.Result result = Node.test("vectors.test.mjs", java.util.Map.of());
    assertThat(result.out()).contains("canonicalize:", "ed25519:", "dsse:", "checkpoint:");
  }
}
