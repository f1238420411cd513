package dev.writ.sinks.post;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class RetryAfterTest {
  private static final Instant NOW = Instant.parse("1994-11-06T08:00:00Z");

  /** The three forms of RFC 9110, 5.6.7, with its examples, and years of this century. */
  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "120|PT2M",
        "0|PT0S",
        "Tue, 8 Nov 1994 08:00:00 GMT|PT48H",
        "Sun, 06 Nov 1994 08:49:37 GMT|PT49M37S",
        "Sun Nov  6 08:49:37 1994|PT49M37S",
        "Sun, 06 Nov 1994 07:49:37 GMT|PT0S",
        "Sunday, 06-Nov-44 08:00:00 GMT|PT438312H",
        "Sun Nov 13 08:00:00 1994|PT168H"
      })
  void saysHowLongToWait(String said, Duration wait) {
    assertThat(RetryAfter.of(said, Optional.empty(), NOW)).contains(wait);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "when it is time",
        "-1",
        "1.5",
        "9999999999",
        "Mon, 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 CET",
        "Sun, 36 Nov 1994 08:49:37 GMT",
        "''"
      })
  void whatCannotBeReadSaysNothing(String said) {
    assertThat(RetryAfter.of(said, Optional.empty(), NOW)).isEmpty();
  }

  /** A receiver whose clock is a day behind ours, and one that does not know when it answered. */
  @Test
  void aDateIsOfTheReceiversClock() {
    String said = "Sat, 05 Nov 1994 08:10:00 GMT";
    assertThat(RetryAfter.of(said, Optional.of("Sat, 05 Nov 1994 08:00:00 GMT"), NOW))
        .contains(Duration.ofMinutes(10));
    assertThat(RetryAfter.of(said, Optional.of("today"), NOW)).contains(Duration.ZERO);
  }
}
