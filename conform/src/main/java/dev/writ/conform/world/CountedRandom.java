package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/** The same bytes in every play of a scenario: SHA-256 of a count. */
final class CountedRandom extends SecureRandom {
  private static final long serialVersionUID = 1L;

  private long drawn;

  @Override
  public synchronized void nextBytes(byte[] bytes) {
    for (int i = 0; i < bytes.length; i += Digest.LENGTH) {
      byte[] block = Digest.sha256(ByteBuffer.allocate(8).putLong(drawn++).array()).bytes();
      System.arraycopy(block, 0, bytes, i, Math.min(block.length, bytes.length - i));
    }
  }
}
