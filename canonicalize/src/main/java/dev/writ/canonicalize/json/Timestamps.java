package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Times in documents: RFC 3339, UTC, exactly three digits of milliseconds, a capital T and Z. */
public final class Timestamps {
  private static final DateTimeFormatter FORM =
      DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.SSS'Z'", Locale.ROOT)
          .withResolverStyle(ResolverStyle.STRICT);

  private Timestamps() {}

  public static String format(Instant time) {
    return FORM.format(LocalDateTime.ofInstant(truncate(time), ZoneOffset.UTC));
  }

  /** Cuts off what a document does not carry, so that a time and its written form are equal. */
  public static Instant truncate(Instant time) {
    return time.truncatedTo(ChronoUnit.MILLIS);
  }

  /**
   * @throws WritException {@code CAN-023} for any other form
   */
  public static Instant parse(String text) {
    try {
      Instant time = LocalDateTime.parse(text, FORM).toInstant(ZoneOffset.UTC);
      if (text.length() == 24) {
        return time;
      }
    } catch (DateTimeParseException e) {
      // refused below, with the other wrong forms
    }
    throw new WritException(
        CanonicalizeError.FIELD_VALUE,
        "\""
            + (text.length() > 40 ? text.substring(0, 40) + "…" : text)
            + "\" is not a time like"
            + " 2026-01-31T12:00:00.000Z");
  }
}
