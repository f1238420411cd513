package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.error.ObjectStoreError;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import software.amazon.awssdk.http.SdkHttpResponse;

/** Compares the clock of a store, by the date of its answer, with ours. */
final class S3Clock {
  /** Amazon refuses requests that are 15 minutes off. */
  static final Duration APART_MAX = Duration.ofMinutes(5);

  private S3Clock() {}

  /**
   * Takes an answer without a date as it is.
   *
   * @throws WritException {@code OBJ-007}
   */
  static void require(SdkHttpResponse answer, Instant now) {
    Optional<String> date = answer.firstMatchingHeader("Date");
    if (date.isEmpty()) {
      return;
    }
    Instant theirs;
    try {
      theirs = ZonedDateTime.parse(date.get(), DateTimeFormatter.RFC_1123_DATE_TIME).toInstant();
    } catch (DateTimeException e) {
      return;
    }
    Duration apart = Duration.between(theirs, now).abs();
    if (apart.compareTo(APART_MAX) > 0) {
      throw new WritException(ObjectStoreError.CLOCK, apart.toSeconds() + " seconds");
    }
  }
}
