package dev.writ.ledger.seal;

import java.io.InputStream;
import java.io.OutputStream;

/**
 * A key that is never stored: what a large content is written under while its digest is not known,
 * so that its bytes are on no disk in the clear.
 */
public final class SpoolKey {
  private static final byte[] NO_CONTEXT = {};

  private final byte[] secret;

  SpoolKey(byte[] secret) {
    this.secret = secret.clone();
  }

  public SealedOutput seal(OutputStream to) {
    return new SealedOutput(secret, NO_CONTEXT, to);
  }

  public InputStream open(InputStream from) {
    return new SealedInput(secret, NO_CONTEXT, from, "a content being written");
  }
}
