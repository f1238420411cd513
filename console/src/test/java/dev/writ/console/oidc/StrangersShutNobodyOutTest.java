package dev.writ.console.oidc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.fixture.Await;
import dev.writ.fixture.Refused;
import dev.writ.fixture.TestClock;
import dev.writ.gateway.http.message.Headers;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/**
 * Anybody may begin to sign in, and come back with a code that he made up, as often as he likes.
 */
class StrangersShutNobodyOutTest {
  private static final Instant NOW = Instant.parse("2026-11-21T12:00:00Z");

  private static void come(ProviderPlaces places, String from, List<String> served) {
    try {
      assertThat(places.take(from, Duration.ofMinutes(1))).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
    served.add(from);
    places.giveBack();
  }

  @Test
  void whoBringsManyCodesWaitsForHimself() throws Exception {
    ProviderPlaces places = new ProviderPlaces(1);
    List<String> served = new CopyOnWriteArrayList<>();
    assertThat(places.take("stranger", Duration.ZERO)).isTrue();
    try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> all = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        all.add(threads.submit(() -> come(places, "stranger", served)));
      }
      Await.until(() -> places.waiting() == 300);
      all.add(threads.submit(() -> come(places, "person", served)));
      Await.until(() -> places.waiting() == 301);
      places.giveBack();
      for (Future<?> each : all) {
        each.get(1, TimeUnit.MINUTES);
      }
    }
    assertThat(served).hasSize(301);
    assertThat(served.indexOf("person")).as("behind one of them").isEqualTo(1);
  }

  @Test
  void whoWaitsTooLongLeavesNothingBehind() throws Exception {
    ProviderPlaces places = new ProviderPlaces(1);
    assertThat(places.take("a", Duration.ZERO)).isTrue();
    assertThat(places.take("b", Duration.ofMillis(1))).isFalse();
    assertThat(places.waiting()).isZero();
    places.giveBack();
    assertThat(places.take("b", Duration.ZERO)).isTrue();
    assertThat(places.take("a", Duration.ZERO)).isFalse();
  }

  /** A fetch that nobody answers takes ten seconds: what came meanwhile does not ask anew. */
  @Test
  void aProviderThatSaysNothingIsLeftAloneForAMoment() {
    TestClock clock = new TestClock(NOW);
    AtomicInteger asked = new AtomicInteger();
    Kept<String> kept =
        new Kept<>(
            () -> {
              asked.incrementAndGet();
              clock.forward(Duration.ofSeconds(10));
              throw ProviderAnswer.unreached("no answer");
            },
            clock);
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(kept::get).isInstanceOf(WritException.class);
    }
    assertThat(asked).hasValue(1);
    clock.forward(Kept.PAUSE);
    assertThatThrownBy(kept::get).isInstanceOf(WritException.class);
    assertThat(asked).hasValue(2);
  }

  private static String ended(Attempts attempts, Attempts.Attempt one, String from) {
    Headers shown = Headers.of(List.of(Map.entry("Cookie", "writ-sign-in=" + one.cookie())));
    attempts.end("about", shown, one.state(), from, NOW);
    return one.state();
  }

  @Test
  void whoEndsThousandsHasHisOwnForgotten() {
    Attempts attempts = new Attempts(new SecureRandom(), false);
    Attempts.Attempt persons = attempts.begin("about", "", NOW);
    ended(attempts, persons, "person");
    for (int i = 0; i < 5000; i++) {
      ended(attempts, attempts.begin("about", "", NOW), "stranger");
    }
    assertThat(Refused.code(() -> ended(attempts, persons, "person"))).isEqualTo("GWY-136");
  }
}
