package dev.writ.canonicalize.crypto;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.List;

/**
 * One signed 128-bit coefficient for each claim of a batch, drawn from a hash of the whole batch
 * (Fiat and Shamir) in place of a random source, so that judging the same batch always does the
 * same work.
 *
 * <p>The seed is SHA-512 over a label, the number of claims, and each claim's challenge and S in
 * order; the challenge is itself SHA-512 over R, A and the message. Any change to a batch changes
 * all its coefficients, so nobody can choose a signature to fit a coefficient that is already
 * known. A false claim among them makes a sum vanish for at most one of the 2^128 values of its
 * coefficient, whatever the others are. An attacker who wants a batch with a false claim accepted
 * has to try 2^128 batches; computing the private key from the public one takes less, about 2^126.
 */
final class BatchCoefficients {
  private static final byte[] LABEL =
      "writ signature batch v1\n".getBytes(StandardCharsets.US_ASCII);
  private static final int BYTES = 16;
  private static final int PER_HASH = 64 / BYTES;

  private final long[] words;

  BatchCoefficients(MessageDigest sha512, List<Claim> claims) {
    ByteBuffer number = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer s = ByteBuffer.allocate(Ed25519Rule.HALF).order(ByteOrder.LITTLE_ENDIAN);
    sha512.update(LABEL);
    sha512.update(number.putLong(0, claims.size()).array());
    for (Claim claim : claims) {
      sha512.update(claim.challenge());
      s.asLongBuffer().put(claim.s());
      sha512.update(s.array());
    }
    byte[] seed = sha512.digest();
    words = new long[2 * (claims.size() + PER_HASH)];
    for (int i = 0; i < claims.size(); i += PER_HASH) {
      sha512.update(seed);
      byte[] hash = sha512.digest(number.putLong(0, i).array());
      ByteBuffer.wrap(hash)
          .order(ByteOrder.LITTLE_ENDIAN)
          .asLongBuffer()
          .get(words, 2 * i, 2 * PER_HASH);
    }
  }

  long low(int claim) {
    return words[2 * claim];
  }

  /** The upper half, with the sign. */
  long high(int claim) {
    return words[2 * claim + 1];
  }

  /**
   * Writes the coefficient as signed digits: the sum of digit i times 2^(bits · i), each between
   * −2^(bits − 1) and 2^(bits − 1).
   *
   * @param bits of a digit, at most 15
   * @param digits digit i goes to {@code at + i * stride}
   */
  void digits(int claim, int bits, short[] digits, int at, int stride) {
    long low = low(claim);
    long high = high(claim);
    long half = 1L << bits - 1;
    int carry = 0;
    int count = count(bits);
    for (int i = 0; i < count; i++) {
      // The last digit takes what is left of the signed number, which is short enough.
      long digit = (i == count - 1 ? low : low & 2 * half - 1) + carry;
      carry = i < count - 1 && digit >= half ? 1 : 0;
      digits[at + i * stride] = (short) (digit - 2 * half * carry);
      low = low >>> bits | high << 64 - bits;
      high >>= bits;
    }
  }

  /** How many digits of so many bits a coefficient has. */
  static int count(int bits) {
    return (8 * BYTES + bits - 1) / bits;
  }
}
