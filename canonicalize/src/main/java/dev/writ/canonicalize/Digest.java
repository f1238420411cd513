package dev.writ.canonicalize;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.NoSuchProviderException;
import java.util.Arrays;

/**
 * A SHA-256 digest, written {@code sha256:} and 64 lower-case hexadecimal digits. A document's id
 * is the digest of its payload, which is its canonical form.
 */
public final class Digest implements Comparable<Digest> {
  /** Length in bytes. */
  public static final int LENGTH = 32;

  private static final MessageDigest FRESH = fresh();
  private static final String PREFIX = "sha256:";
  private static final byte[] DIGITS = "0123456789abcdef".getBytes(StandardCharsets.ISO_8859_1);

  private final byte[] bytes;

  /**
   * The text form once it was asked for: an effect's few digests are written some sixty times, into
   * documents, events and keys. Two threads may both make it.
   */
  private String text;

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
    byte[] bytes = new byte[LENGTH];
    for (int i = 0; i < LENGTH; i++) {
      int high = digit(text.charAt(PREFIX.length() + 2 * i));
      int low = digit(text.charAt(PREFIX.length() + 2 * i + 1));
      if ((high | low) < 0) {
        throw malformed(text);
      }
      bytes[i] = (byte) (high << 4 | low);
    }
    return new Digest(bytes);
  }

  /** The value of a lower-case hexadecimal digit; negative for anything else. */
  private static int digit(char c) {
    if (c >= '0' && c <= '9') {
      return c - '0';
    }
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
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
    return toString().substring(PREFIX.length());
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
    String known = text;
    if (known == null) {
      byte[] written = new byte[PREFIX.length() + 2 * LENGTH];
      for (int i = 0; i < PREFIX.length(); i++) {
        written[i] = (byte) PREFIX.charAt(i);
      }
      for (int i = 0; i < LENGTH; i++) {
        written[PREFIX.length() + 2 * i] = DIGITS[bytes[i] >> 4 & 0xF];
        written[PREFIX.length() + 2 * i + 1] = DIGITS[bytes[i] & 0xF];
      }
      known = new String(written, StandardCharsets.ISO_8859_1);
      text = known;
    }
    return known;
  }
}
