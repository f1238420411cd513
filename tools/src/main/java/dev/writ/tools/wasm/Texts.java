package dev.writ.tools.wasm;

import java.nio.charset.StandardCharsets;

/** Text from a guest, made valid for documents: of limited length, and whole characters only. */
public final class Texts {
  /** The most characters of an Outcome's message. */
  public static final int MESSAGE_CHARS_MAX = 4096;

  private Texts() {}

  /**
   * A message of at most {@link #MESSAGE_CHARS_MAX} characters; half surrogate pairs become "?".
   */
  public static String message(String text) {
    String whole = text == null ? "" : text;
    String cut =
        whole.length() > MESSAGE_CHARS_MAX
            ? whole.substring(0, MESSAGE_CHARS_MAX - 1) + "…"
            : whole;
    return new String(cut.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8);
  }

  /** Bytes as text; what is not UTF-8 becomes U+FFFD. */
  public static String text(byte[] bytes) {
    return new String(bytes, StandardCharsets.UTF_8);
  }
}
