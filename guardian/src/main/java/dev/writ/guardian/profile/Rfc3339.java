package dev.writ.guardian.profile;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/** Times of RFC 3339, 5.6, with any offset and up to nine digits of a second. */
final class Rfc3339 {
  private static final Pattern FORM =
      Pattern.compile(
          "[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(\\.[0-9]{1,9})?"
              + "([Zz]|[+-][0-9]{2}:[0-9]{2})");

  private Rfc3339() {}

  /** Empty for any other form, and for leap seconds, which our clocks do not have. */
  static Optional<Instant> parse(String text) {
    if (!FORM.matcher(text).matches()) {
      return Optional.empty();
    }
    try {
      String upper = text.toUpperCase(Locale.ROOT);
      return Optional.of(
          OffsetDateTime.parse(upper, DateTimeFormatter.ISO_OFFSET_DATE_TIME).toInstant());
    } catch (DateTimeException e) {
      return Optional.empty();
    }
  }
}
