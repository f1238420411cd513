package dev.writ.canonicalize.crypto;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Optional;

/**
 * One PEM block of RFC 7468: the strict form, except that lines may be of any length and end in CR
 * LF, and that the file may end without a line end.
 */
record Pem(String label, byte[] der) {
  static final String PLAIN = "PRIVATE KEY";
  static final String PUBLIC = "PUBLIC KEY";
  static final String ENCRYPTED = "ENCRYPTED PRIVATE KEY";

  /** SEC1, the form in which openssl ecparam writes a key. */
  private static final String SEC1 = "EC PRIVATE KEY";

  private static final String BEGIN = "-----BEGIN ";
  private static final String END = "-----END ";
  private static final String DASHES = "-----";

  /** Characters of base64 in a line. */
  private static final int LINE = 64;

  byte[] toBytes() {
    String body =
        Base64.getMimeEncoder(LINE, "\n".getBytes(StandardCharsets.US_ASCII)).encodeToString(der);
    return (BEGIN + label + DASHES + "\n" + body + "\n" + END + label + DASHES + "\n")
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Empty where the bytes are not exactly one block. */
  static Optional<Pem> parse(byte[] bytes) {
    List<String> lines = new String(bytes, StandardCharsets.ISO_8859_1).lines().toList();
    if (lines.size() < 3) {
      return Optional.empty();
    }
    String first = lines.getFirst();
    if (!first.startsWith(BEGIN) || !first.endsWith(DASHES)) { // they cannot overlap
      return Optional.empty();
    }
    String label = first.substring(BEGIN.length(), first.length() - DASHES.length());
    if (!lines.getLast().equals(END + label + DASHES)) {
      return Optional.empty();
    }
    try {
      String body = String.join("", lines.subList(1, lines.size() - 1));
      return Optional.of(new Pem(label, Base64.getDecoder().decode(body)));
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
  }

  /**
   * Whether a key of SEC1 is in the file: behind a block with its curve, perhaps, and with headers
   * where it is encrypted, so that the file need not be one block.
   */
  static boolean hasSec1(byte[] bytes) {
    return new String(bytes, StandardCharsets.ISO_8859_1)
        .lines()
        .anyMatch((BEGIN + SEC1 + DASHES)::equals);
  }
}
