package dev.writ.gateway.v1;

import dev.writ.gateway.http.OutOfRange;
import dev.writ.gateway.http.message.Headers;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One range of bytes (RFC 9110, 14).
 *
 * @param to exclusive
 */
record ByteRange(long from, long to) {
  private static final Pattern ONE = Pattern.compile("bytes=([0-9]{0,15})-([0-9]{0,15})");

  /**
   * The range that the headers request; empty if they request none, several, or one of another
   * version.
   *
   * @throws OutOfRange {@code GWY-033}
   */
  static Optional<ByteRange> of(Headers headers, long size, String etag) {
    Optional<String> range = headers.one("range");
    boolean same = headers.one("if-range").map(("\"" + etag + "\"")::equals).orElse(true);
    if (range.isEmpty() || !same) {
      return Optional.empty();
    }
    Matcher match = ONE.matcher(range.get());
    if (!match.matches() || match.group(1).isEmpty() && match.group(2).isEmpty()) {
      return Optional.empty();
    }
    long from;
    long to;
    if (match.group(1).isEmpty()) {
      long last = Long.parseLong(match.group(2));
      from = Math.max(0, size - last);
      to = last == 0 ? from : size;
    } else {
      from = Long.parseLong(match.group(1));
      to = match.group(2).isEmpty() ? size : Math.min(size, Long.parseLong(match.group(2)) + 1);
    }
    if (from >= size || from >= to) {
      throw new OutOfRange(range.get(), size);
    }
    return Optional.of(new ByteRange(from, to));
  }
}
