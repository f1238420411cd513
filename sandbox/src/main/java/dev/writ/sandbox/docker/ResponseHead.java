package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The head of an HTTP/1.1 response (RFC 9112), read strictly: lines end with CR LF, no line is
 * folded, and the length is given only once and in one way.
 *
 * @param headers by their names in lower case
 */
record ResponseHead(int status, SortedMap<String, String> headers) {
  private static final int MOST_BYTES = 1 << 14;
  private static final String TOKEN = "[!#$%&'*+.^_`|~0-9A-Za-z-]+";

  /**
   * Reads up to the empty line, and no byte more.
   *
   * @throws WritException {@code SBX-009}
   */
  static ResponseHead read(InputStream in) throws IOException {
    String[] lines = text(in).split("\r\n", -1);
    if (!lines[0].matches("HTTP/1\\.1 [1-5][0-9]{2}( [\\t\\x20-\\x7e\\x80-\\xff]*)?")) {
      throw malformed("the status line");
    }
    TreeMap<String, String> headers = new TreeMap<>();
    for (int i = 1; i < lines.length - 2; i++) {
      int colon = lines[i].indexOf(':');
      String name = colon < 0 ? "" : lines[i].substring(0, colon);
      String value = lines[i].substring(colon + 1).replaceAll("^[ \\t]+|[ \\t]+$", "");
      boolean plain = value.chars().allMatch(c -> c == '\t' || c >= ' ' && c != 0x7f);
      if (!name.matches(TOKEN) || !plain) {
        throw malformed("a header line");
      }
      String key = name.toLowerCase(Locale.ROOT);
      boolean framing = key.equals("content-length") || key.equals("transfer-encoding");
      if (framing && headers.containsKey(key)) {
        throw malformed("a length that is given twice");
      }
      headers.merge(key, value, (a, b) -> a + "," + b);
    }
    ResponseHead head = new ResponseHead(Integer.parseInt(lines[0].substring(9, 12)), headers);
    head.length(); // refuses what is no length
    return head;
  }

  private static String text(InputStream in) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    int last = 0;
    while (true) {
      int next = in.read();
      if (next < 0) {
        throw malformed("an end in the head");
      }
      bytes.write(next);
      last = last << 8 | next;
      if (last == 0x0d0a0d0a) {
        return bytes.toString(StandardCharsets.ISO_8859_1);
      }
      if (bytes.size() > MOST_BYTES) {
        throw malformed("a head of more than " + MOST_BYTES + " bytes");
      }
    }
  }

  Optional<String> header(String name) {
    return Optional.ofNullable(headers.get(name));
  }

  boolean chunked() {
    return headers.containsKey("transfer-encoding");
  }

  /** The length by its header; empty if the body is chunked or ends with the stream. */
  OptionalLong length() {
    Optional<String> coding = header("transfer-encoding");
    Optional<String> length = header("content-length");
    if (coding.isPresent() && (!coding.get().equalsIgnoreCase("chunked") || length.isPresent())) {
      throw malformed("a length in two ways, or a coding that is not chunked");
    }
    if (length.isEmpty()) {
      return OptionalLong.empty();
    }
    if (!length.get().matches("[0-9]{1,15}")) {
      throw malformed("a length that is no number");
    }
    return OptionalLong.of(Long.parseLong(length.get()));
  }

  /** Whether a response with this status has no body, whatever its headers state. */
  boolean bodiless() {
    return status < 200 || status == 204 || status == 304;
  }

  static WritException malformed(String what) {
    return new WritException(SandboxError.ENGINE_ANSWER, "malformed: " + what);
  }
}
