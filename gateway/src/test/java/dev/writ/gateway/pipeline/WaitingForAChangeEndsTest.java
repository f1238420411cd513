package dev.writ.gateway.pipeline;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whoever waits for a commit waits no longer than it said, where none comes. */
@Timeout(value = 30, unit = TimeUnit.SECONDS)
class WaitingForAChangeEndsTest {
  private final Changes changes = new Changes();

  @Test
  void alsoWhereLessThanAMillisecondIsLeft() throws InterruptedException {
    changes.await(0, Duration.ofNanos(1));
    changes.await(0, Duration.ofNanos(999_999));
    changes.await(0, Duration.ZERO);
    changes.await(0, Duration.ofNanos(-1));
    assertThat(changes.count()).isZero();
  }

  @Test
  void andNotAtAllWhereOneCameAlready() throws InterruptedException {
    long seen = changes.count();
    changes.happened();
    changes.await(seen, Duration.ofHours(1));
    assertThat(changes.count()).isEqualTo(seen + 1);
  }
}
