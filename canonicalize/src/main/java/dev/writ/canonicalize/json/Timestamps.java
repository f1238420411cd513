package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Times in documents: RFC 3339, UTC, exactly three digits of milliseconds, a capital T and Z. */
public final class Timestamps {
  private static final DateTimeFormatter FORM =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withResolverStyle(ResolverStyle.STRICT);

  private static final String LIKE = "0000-00-00T00:00:00.000Z";

  private Timestamps() {}

  /** Written by hand because every event and document has some: a pattern is ten times slower. */
  public static String format(Instant time) {
    LocalDateTime utc = LocalDateTime.ofEpochSecond(time.getEpochSecond(), 0, ZoneOffset.UTC);
    if (utc.getYear() < 0 || utc.getYear() > 9999) {
      return FORM.format(LocalDateTime.ofInstant(truncate(time), ZoneOffset.UTC));
    }
    byte[] text = LIKE.getBytes(StandardCharsets.ISO_8859_1);
    digits(text, 0, 4, utc.getYear());
    digits(text, 5, 7, utc.getMonthValue());
    digits(text, 8, 10, utc.getDayOfMonth());
    digits(text, 11, 13, utc.getHour());
    digits(text, 14, 16, utc.getMinute());
    digits(text, 17, 19, utc.getSecond());
    digits(text, 20, 23, time.getNano() / 1_000_000);
    return new String(text, StandardCharsets.ISO_8859_1);
  }

  private static void digits(byte[] text, int from, int to, int number) {
    int left = number;
    for (int i = to - 1; i >= from; i--) {
      text[i] = (byte) ('0' + left % 10);
      left /= 10;
    }
  }

  /** Cuts off what a document does not carry, so that a time and its written form are equal. */
  public static Instant truncate(Instant time) {
    return time.truncatedTo(ChronoUnit.MILLIS);
  }

  /**
   * @throws WritException {@code CAN-023} for any other form
   */
  public static Instant parse(String text) {
    if (isForm(text)) {
      try {
        return LocalDateTime.of(
                number(text, 0, 4),
                number(text, 5, 7),
                number(text, 8, 10),
                number(text, 11, 13),
                number(text, 14, 16),
                number(text, 17, 19),
                number(text, 20, 23) * 1_000_000)
            .toInstant(ZoneOffset.UTC);
      } catch (DateTimeException e) {
        // refused below, with the other wrong forms
      }
    }
    throw new WritException(
        CanonicalizeError.FIELD_VALUE,
        "\""
            + (text.length() > 40 ? text.substring(0, 40) + "…" : text)
            + "\" is not a time like"
            + " 2026-01-31T12:00:00.000Z");
  }

  /** Written by hand because it runs for every event and document: a pattern parser is slower. */
  private static boolean isForm(String text) {
    if (text.length() != LIKE.length()) {
      return false;
    }
    for (int i = 0; i < LIKE.length(); i++) {
      char wanted = LIKE.charAt(i);
      char found = text.charAt(i);
      if (wanted == '0' ? found < '0' || found > '9' : found != wanted) {
        return false;
      }
    }
    return true;
  }

  private static int number(String text, int from, int to) {
    return Integer.parseInt(text, from, to, 10);
  }
}
