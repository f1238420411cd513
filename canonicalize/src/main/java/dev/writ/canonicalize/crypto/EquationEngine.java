package dev.writ.canonicalize.crypto;

/**
 * Asks the equation of {@link SignatureBatch} about each signature, also about one alone, and
 * Bouncy Castle only where it does not hold. For a process that judges a few dozen and ends: the
 * first signature that Bouncy Castle verifies takes it 7 to 10 ms, mostly for tables of multiples
 * and for the JDK's logging; one of a batch takes less than half a millisecond then.
 */
final class EquationEngine extends BouncyCastleEngine {
  EquationEngine() {
    super("Bouncy Castle, asked about what the equation of a batch does not accept");
  }

  @Override
  boolean saysYes(Ed25519Public key, byte[] message, byte[] signature) {
    return SignatureBatch.holds(key, message, signature);
  }

  @Override
  int batchLeast() {
    return 2;
  }
}
