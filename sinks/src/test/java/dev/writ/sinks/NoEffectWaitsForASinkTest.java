package dev.writ.sinks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.sinks.feed.RecordId;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.sinks.testing.SinkScene;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A target that does not answer holds up nothing but itself; a kind of target is one class. */
class NoEffectWaitsForASinkTest {
  @TempDir Path dir;

  /** A target that takes its time. */
  private static final class Held implements RecordSink {
    final CountDownLatch asked = new CountDownLatch(1);
    final CountDownLatch answers = new CountDownLatch(1);
    final List<SinkRecord> records = new ArrayList<>();
    private int batchMax;

    @Override
    public Optional<RecordId> open() {
      return Optional.empty();
    }

    @Override
    public synchronized void deliver(List<SinkRecord> batch) {
      asked.countDown();
      try {
        answers.await();
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
      records.addAll(batch);
      batchMax = Math.max(batchMax, batch.size());
    }

    @Override
    public void close() {}
  }

  @Test
  void effectsAreServedAndWaitInTheLogInBoundedBatches() throws InterruptedException {
    Held held = new Held();
    try (SinkScene scene = new SinkScene(dir, "held", held)) {
      scene.exec("pytest -q");
      held.asked.await();
      List<String> served = new ArrayList<>();
      for (int i = 0; i < 205; i++) {
        served.add(scene.exec("python " + i));
      }
      assertThat(scene.sink().state().delivered()).isZero();
      assertThat(scene.sink().eventsBehind()).isGreaterThan(205);
      held.answers.countDown();
      scene.awaitAll();
      assertThat(held.records).hasSize(206).extracting(SinkRecord::id).isSorted();
      assertThat(held.records.subList(1, 206))
          .extracting(record -> record.text("exec_id"))
          .isEqualTo(served);
      assertThat(held.batchMax).isLessThanOrEqualTo(200);
    }
  }

  /** A target that fails in a way that nobody foresaw, once. */
  private static final class Faulty implements RecordSink {
    final List<SinkRecord> records = new ArrayList<>();
    private boolean failed;

    @Override
    public Optional<RecordId> open() {
      return Optional.empty();
    }

    @Override
    public void deliver(List<SinkRecord> batch) {
      if (!failed) {
        failed = true;
        throw new IllegalStateException();
      }
      records.addAll(batch);
    }

    @Override
    public void close() {}
  }

  @Test
  void aFaultThatNobodyForesawIsTriedAgainLikeAnyOther() {
    Faulty faulty = new Faulty();
    try (SinkScene scene = new SinkScene(dir, "faulty", faulty)) {
      scene.exec("pytest -q");
      scene.awaitLine("SNK-004 java.lang.IllegalStateException");
      scene.awaitLine("delivered");
      scene.awaitAll();
      assertThat(faulty.records).hasSize(1);
    }
  }
}
