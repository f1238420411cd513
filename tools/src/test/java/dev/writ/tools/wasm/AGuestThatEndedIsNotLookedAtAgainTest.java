package dev.writ.tools.wasm;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A server runs a thousand guests within the limits of one: what each leaves would add up. */
class AGuestThatEndedIsNotLookedAtAgainTest {
  @Test
  void no_check_stays_for_a_guest_that_ended() {
    try (Watchdog watchdog = new Watchdog()) {
      for (int i = 0; i < 1_000; i++) {
        try (Watchdog.Watch watch = watchdog.watch(new Stop(), 3_600_000, 3_600_000)) {
          assertThat(watch.wallNanos()).isNotNegative();
          assertThat(watchdog.waiting()).isOne();
        }
      }
      assertThat(watchdog.waiting()).isZero();
    }
  }
}
