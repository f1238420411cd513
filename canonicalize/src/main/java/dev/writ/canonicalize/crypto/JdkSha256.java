package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.Digest;
import java.security.DigestException;
import java.security.MessageDigest;
import org.bouncycastle.crypto.ExtendedDigest;

/** The JDK's SHA-256, which uses the processor's instructions, for algorithms of Bouncy Castle. */
final class JdkSha256 implements ExtendedDigest {
  private static final int BLOCK_BYTES = 64;

  private final MessageDigest hash = Digest.newSha256();

  @Override
  public String getAlgorithmName() {
    return "SHA-256";
  }

  @Override
  public int getDigestSize() {
    return Digest.LENGTH;
  }

  @Override
  public int getByteLength() {
    return BLOCK_BYTES;
  }

  @Override
  public void update(byte in) {
    hash.update(in);
  }

  @Override
  public void update(byte[] in, int from, int length) {
    hash.update(in, from, length);
  }

  @Override
  public int doFinal(byte[] out, int from) {
    try {
      return hash.digest(out, from, Digest.LENGTH);
    } catch (DigestException e) {
      throw new IllegalArgumentException(e);
    }
  }

  @Override
  public void reset() {
    hash.reset();
  }
}
