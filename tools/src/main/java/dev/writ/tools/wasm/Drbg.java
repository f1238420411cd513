package dev.writ.tools.wasm;

import dev.writ.canonicalize.Digest;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The guest's random bytes: a generator in counter mode. Block {@code i} is SHA-256(label ‖ seed ‖
 * i as eight bytes, big endian), and the stream is the blocks in order. It is public, like the seed
 * (protocol rule 17): suitable for sampling and hashing, never for secrets.
 */
public final class Drbg {
  private static final byte[] LABEL = "writ/guest-random/v1".getBytes(StandardCharsets.US_ASCII);

  private final byte[] seed;
  private long counter;
  private byte[] block = new byte[0];
  private int used;

  public Drbg(byte[] seed) {
    this.seed = seed.clone();
  }

  /** Fills the whole array with the next bytes of the stream. */
  public void fill(byte[] target) {
    int at = 0;
    while (at < target.length) {
      if (used == block.length) {
        byte[] index = ByteBuffer.allocate(Long.BYTES).putLong(counter++).array();
        block = Digest.sha256(LABEL, seed, index).bytes();
        used = 0;
      }
      int n = Math.min(target.length - at, block.length - used);
      System.arraycopy(block, used, target, at, n);
      used += n;
      at += n;
    }
  }

  /** The next {@code count} bytes of the stream. */
  public byte[] next(int count) {
    byte[] bytes = new byte[count];
    fill(bytes);
    return bytes;
  }
}
