package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/** The same bytes for the same seed. */
public final class SeededRandom extends SecureRandom {
  private static final long serialVersionUID = 1L;

  private final long seed;
  private long drawn;

  public SeededRandom(long seed) {
    this.seed = seed;
  }

  @Override
  public synchronized void nextBytes(byte[] bytes) {
    for (int i = 0; i < bytes.length; i += Digest.LENGTH) {
      byte[] block =
          Digest.sha256(ByteBuffer.allocate(16).putLong(seed).putLong(drawn++).array()).bytes();
      System.arraycopy(block, 0, bytes, i, Math.min(block.length, bytes.length - i));
    }
  }
}
