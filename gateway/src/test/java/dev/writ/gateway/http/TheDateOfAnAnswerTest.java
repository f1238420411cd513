package dev.writ.gateway.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class TheDateOfAnAnswerTest {
  @Test
  void hasTwoDigitsOfTheDay() {
    assertThat(Reply.date(Instant.parse("1994-11-06T08:49:37.5Z")))
        .isEqualTo("Sun, 06 Nov 1994 08:49:37 GMT");
  }
}
