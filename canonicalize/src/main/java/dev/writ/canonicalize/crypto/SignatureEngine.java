package dev.writ.canonicalize.crypto;

/**
 * Who computes Ed25519. Engines differ in speed only: an engine signs the bytes that RFC 8032
 * fixes, and when verifying it may only say yes where Bouncy Castle would, which is asked whenever
 * it does not. {@link SignatureBatch} verifies many at once, under the same rule. Only this package
 * can have one; the simulation has its own there.
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
   * Whether this engine accepts a well-formed signature by an admitted key. No is not a verdict:
   * the caller then asks Bouncy Castle.
   */
  abstract boolean saysYes(Ed25519Public key, byte[] message, byte[] signature);

  @Override
  public final String toString() {
    return description;
  }
}
