package dev.writ.canonicalize.crypto;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * What one signature of a batch claims: [8]S·B = [8]R + [8]k·A.
 *
 * @param item its place in the list that was asked about
 * @param key its key's place among the keys of the batch
 * @param r R, decoded
 * @param s S, little-endian words
 * @param challenge the 64 bytes of SHA-512 over R, A and the message
 * @param k the same as little-endian words; not reduced modulo L, which makes no difference to
 *     [8]k·A
 */
record Claim(int item, int key, Addend25519 r, long[] s, byte[] challenge, long[] k) {

  static Claim of(int item, int key, Addend25519 r, byte[] signature, byte[] challenge) {
    return new Claim(
        item,
        key,
        r,
        words(signature, Ed25519Rule.HALF, Ed25519Rule.HALF),
        challenge,
        words(challenge, 0, challenge.length));
  }

  private static long[] words(byte[] bytes, int at, int length) {
    long[] words = new long[length / Long.BYTES];
    ByteBuffer.wrap(bytes, at, length).order(ByteOrder.LITTLE_ENDIAN).asLongBuffer().get(words);
    return words;
  }
}
