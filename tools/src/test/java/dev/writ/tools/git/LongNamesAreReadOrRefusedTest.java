package dev.writ.tools.git;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/**
 * The longest texts that may be names and addresses are read on a small stack, longer ones refused.
 */
class LongNamesAreReadOrRefusedTest {
  /** What it throws; null if nothing. */
  private static Throwable thrownOnASmallStack(Runnable work) throws InterruptedException {
    AtomicReference<Throwable> thrown = new AtomicReference<>();
    Thread small = new Thread(null, work, "small", 256 * 1024);
    small.setUncaughtExceptionHandler((_, e) -> thrown.set(e));
    small.start();
    small.join();
    return thrown.get();
  }

  @Test
  void anAddress() throws InterruptedException {
    String place = "https://a.example/";
    String one = place + "a".repeat(2000 - place.length());
    String many = place + "a/".repeat(900) + "a";
    String spaces = place + "%20".repeat(600);
    for (String url : new String[] {one, many, spaces}) {
      assertThat(thrownOnASmallStack(() -> RemoteUrl.parse(url))).isNull();
      assertThat(thrownOnASmallStack(() -> RemoteUrl.parse(url + "%2e")))
          .hasMessageContaining("TOL-070");
    }
    assertThatThrownBy(() -> RemoteUrl.parse(place + "a%2")).hasMessageContaining("TOL-070");
    assertThatThrownBy(() -> RemoteUrl.parse(place + "a//b")).hasMessageContaining("TOL-070");
  }

  @Test
  void aCommit() throws InterruptedException {
    String steps = "HEAD" + "~1^2".repeat(90);
    assertThat(Revisions.commit(steps)).isEqualTo(steps);
    for (String step : new String[] {"~", "^", "~1^2"}) {
      assertThat(thrownOnASmallStack(() -> Revisions.commit("HEAD" + step.repeat(100_000))))
          .hasMessageContaining("TOL-071");
    }
    assertThatThrownBy(() -> Revisions.commit("HEAD~1234567")).hasMessageContaining("TOL-071");
  }
}
