package dev.writ.canonicalize.crypto;

/**
 * An implementation of Ed25519. Engines differ in speed only: the bytes of a signature are fixed by
 * RFC 8032, and an engine may accept a signature only if Bouncy Castle would. Bouncy Castle is
 * asked whenever an engine does not accept. {@link SignatureBatch} verifies many at once, under the
 * same rule. Only this package can implement one; the simulation's engine is in this package, too.
 */
public abstract class SignatureEngine {
  private final String description;

  SignatureEngine(String description) {
    this.description = description;
  }

  /** Which engine this is and why it was chosen, in a phrase for {@code writ doctor}. */
  public final String description() {
    return description;
  }

  /** Signs; deterministic (RFC 8032, 5.1.6). */
  abstract byte[] sign(Ed25519Secret key, byte[] message);

  /**
   * Whether this engine accepts a well-formed signature by an admitted key. False is not a verdict:
   * the caller then asks Bouncy Castle.
   */
  abstract boolean saysYes(Ed25519Public key, byte[] message, byte[] signature);

  /** From how many signatures on a batch is faster than asking this engine for each. */
  int batchLeast() {
    return SignatureBatch.LEAST;
  }

  @Override
  public final String toString() {
    return description;
  }
}
