package dev.writ.cli.command.serve;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.fixture.Await;
import dev.writ.gateway.ops.Probe;
import dev.writ.ledger.error.LedgerError;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Nobody is told of it by a call where none comes (spec/gateway.md, 21f). */
class ADatabaseThatIsAwayIsToldTest {
  private static final Probe.Result AWAY = new Probe.Result(false, Optional.of("LED-002"));

  private final AtomicInteger asked = new AtomicInteger();
  private volatile boolean away;
  private final CountDownLatch closed = new CountDownLatch(1);
  private final List<String> told = new CopyOnWriteArrayList<>();

  private void ask() {
    asked.incrementAndGet();
    if (away) {
      throw new WritException(LedgerError.MISSING, "as if nobody answered");
    }
  }

  private void refused(WritException why) {
    told.add(why.code().code());
  }

  @Test
  void withTheThirdSilenceInARow() {
    try (AnswerWatch watch = AnswerWatch.ofDatabase(this::ask, this::refused, closed::countDown)) {
      Await.until(() -> asked.get() == 1);
      away = true;
      watch.look();
      watch.look();
      away = false;
      watch.look();
      away = true;
      watch.look();
      watch.look();
      assertThat(watch.probe().look().get()).as("a failover").isEqualTo(Probe.Result.OK);
      assertThat(told).isEmpty();
      watch.look();
      watch.look();
      assertThat(watch.probe().look().get()).isEqualTo(AWAY);
      assertThat(told).as("once").containsExactly("LED-002");
      away = false;
      watch.look();
      assertThat(watch.probe().look().get()).isEqualTo(Probe.Result.OK);
      assertThat(closed.getCount()).isEqualTo(1);
    }
    Await.until(() -> closed.getCount() == 0);
  }

  @Test
  void anExecutorHasToAnswerEachTime() {
    away = true;
    try (AnswerWatch watch = AnswerWatch.ofExecutor(this::ask, this::refused)) {
      Await.until(() -> told.size() == 1);
      assertThat(watch.probe().name()).isEqualTo("executor");
      assertThat(watch.probe().look().get()).isEqualTo(AWAY);
      away = false;
      watch.look();
      assertThat(watch.probe().look().get()).isEqualTo(Probe.Result.OK);
    }
  }
}
