package dev.writ.sinks.post;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.temporal.ChronoField;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/** When a receiver wants to be asked again (RFC 9110, 10.2.3): in so many seconds, or at a date. */
final class RetryAfter {
  /** The first year that a date of two digits may be of. */
  private static final LocalDate SHORT_YEARS_FROM = LocalDate.of(2000, 1, 1);

  /** The three forms of a date that whoever reads HTTP has to know (RFC 9110, 5.6.7). */
  private static final List<DateTimeFormatter> DATES =
      List.of(
          DateTimeFormatter.ofPattern("EEE, d MMM uuuu HH:mm:ss 'GMT'", Locale.US),
          new DateTimeFormatterBuilder()
              .appendPattern("EEEE, dd-MMM-")
              .appendValueReduced(ChronoField.YEAR, 2, 2, SHORT_YEARS_FROM)
              .appendPattern(" HH:mm:ss 'GMT'")
              .toFormatter(Locale.US),
          DateTimeFormatter.ofPattern("EEE MMM ppd HH:mm:ss uuuu", Locale.US));

  private RetryAfter() {}

  /**
   * How long to wait; empty where the header says nothing that can be read.
   *
   * @param said the header
   * @param answered the header {@code Date} of the answer: a date is of the receiver's clock, so
   *     that ours does not matter where the two are apart
   * @param now our time, for an answer that does not say when it was given
   */
  static Optional<Duration> of(String said, Optional<String> answered, Instant now) {
    if (said.matches("[0-9]{1,9}")) {
      return Optional.of(Duration.ofSeconds(Long.parseLong(said)));
    }
    Instant from = answered.flatMap(RetryAfter::date).orElse(now);
    return date(said).map(at -> at.isAfter(from) ? Duration.between(from, at) : Duration.ZERO);
  }

  private static Optional<Instant> date(String text) {
    for (DateTimeFormatter form : DATES) {
      try {
        return Optional.of(LocalDateTime.parse(text, form).toInstant(ZoneOffset.UTC));
      } catch (DateTimeException e) {
        continue; // another form, or none
      }
    }
    return Optional.empty();
  }
}
