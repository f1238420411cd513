package dev.writ.canonicalize;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.NoSuchProviderException;
import java.util.Arrays;
import java.util.HexFormat;

/**
 * A SHA-256 digest, written {@code sha256:} and 64 lower-case hexadecimal digits. A document's id
 * is the digest of its payload, which is its canonical form.
 */
public final class Digest implements Comparable<Digest> {
  /** Length in bytes. */
  public static final int LENGTH = 32;

  private static final MessageDigest FRESH = fresh();
  private static final String PREFIX = "sha256:";

  private final byte[] bytes;

  private Digest(byte[] bytes) {
    this.bytes = bytes;
  }

  /** The digest of the concatenation of the parts. */
  public static Digest sha256(byte[]... parts) {
    MessageDigest hash = newSha256();
    for (byte[] part : parts) {
      hash.update(part);
    }
    return new Digest(hash.digest());
  }

  /** A running SHA-256 from the JDK, whose intrinsic is the fastest there is on the JVM. */
  public static MessageDigest newSha256() {
    try {
      // A copy of a fresh one: asking the providers takes longer than hashing a small document.
      return (MessageDigest) FRESH.clone();
    } catch (CloneNotSupportedException e) {
      throw new IllegalStateException("the JDK's SHA-256 can be cloned", e);
    }
  }

  private static MessageDigest fresh() {
    try {
      return MessageDigest.getInstance("SHA-256", "SUN");
    } catch (NoSuchAlgorithmException | NoSuchProviderException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  /** Takes the 32 bytes of a digest computed elsewhere. */
  public static Digest ofBytes(byte[] bytes) {
    if (bytes.length != LENGTH) {
      throw new WritException(
          CanonicalizeError.DIGEST_MALFORMED, bytes.length + " bytes instead of " + LENGTH);
    }
    return new Digest(bytes.clone());
  }

  /**
   * Parses the text form.
   *
   * @throws WritException {@code CAN-040} unless it is {@code sha256:} and 64 lower-case hex digits
   */
  public static Digest parse(String text) {
    if (text.length() != PREFIX.length() + 2 * LENGTH || !text.startsWith(PREFIX)) {
      throw malformed(text);
    }
    for (int i = PREFIX.length(); i < text.length(); i++) {
      char c = text.charAt(i);
      if (!(c >= '0' && c <= '9' || c >= 'a' && c <= 'f')) {
        throw malformed(text);
      }
    }
    return new Digest(HexFormat.of().parseHex(text, PREFIX.length(), text.length()));
  }

  private static WritException malformed(String text) {
    String shown = text.length() > 80 ? text.substring(0, 80) + "…" : text;
    return new WritException(CanonicalizeError.DIGEST_MALFORMED, "\"" + shown + "\"");
  }

  public byte[] bytes() {
    return bytes.clone();
  }

  /** The 64 lower-case hexadecimal digits, without the prefix. */
  public String hex() {
    return HexFormat.of().formatHex(bytes);
  }

  @Override
  public int compareTo(Digest other) {
    return Arrays.compareUnsigned(bytes, other.bytes);
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Digest that && Arrays.equals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return Arrays.hashCode(bytes);
  }

  @Override
  public String toString() {
    return PREFIX + hex();
  }
}
