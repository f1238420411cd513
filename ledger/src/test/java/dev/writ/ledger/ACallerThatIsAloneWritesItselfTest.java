package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Who writes a batch; that it is written, in its order, whoever does. */
class ACallerThatIsAloneWritesItselfTest {
  @TempDir Path home;
  private final List<Thread> writers = Collections.synchronizedList(new ArrayList<>());
  private final AtomicBoolean failing = new AtomicBoolean();

  @BeforeEach
  void a_ledger() {
    Ledger.create(config(home)).close();
  }

  private Ledger open() {
    return Ledger.open(
        config(home),
        disk ->
            (write, size, newSize) -> {
              writers.add(Thread.currentThread());
              if (failing.get()) {
                throw new WritException(LedgerError.STORAGE, "a fault");
              }
              disk.write(write, size, newSize);
            });
  }

  @Test
  void its_own_thread_writes_and_nobody_is_woken() {
    try (Ledger ledger = open()) {
      ledger.appendAwaited(opening("a")).await();
      ledger.appendAwaited(step(ledger, run("a"), "two")).await();
      assertThat(writers).containsExactly(Thread.currentThread(), Thread.currentThread());
      assertThat(ledger.treeSize()).isEqualTo(2);
    }
  }

  @Test
  void who_does_not_say_that_it_awaits_is_served_by_another_thread() {
    try (Ledger ledger = open()) {
      ledger.append(opening("a")).await();
      assertThat(writers).hasSize(1).doesNotContain(Thread.currentThread());
    }
  }

  @Test
  void a_batch_whose_caller_does_not_await_it_after_all_is_written_with_the_next_one() {
    try (Ledger ledger = open()) {
      Commit left = ledger.appendAwaited(opening("a"));
      ledger.append(opening("b")).await();
      assertThat(left.isDone()).isTrue();
      assertThat(ledger.treeSize()).isEqualTo(2);
    }
  }

  @Test
  void closing_writes_a_batch_that_nobody_awaits() {
    Commit left;
    try (Ledger ledger = open()) {
      left = ledger.appendAwaited(opening("a"));
    }
    left.await();
    try (Ledger ledger = open()) {
      assertThat(ledger.treeSize()).isEqualTo(1);
    }
  }

  @Test
  void a_write_that_fails_in_the_callers_thread_stops_the_ledger_for_everybody() throws Exception {
    try (Ledger ledger = open()) {
      AtomicReference<WritException> told = new AtomicReference<>();
      ledger.whenStopped(told::set);
      ledger.appendAwaited(opening("a")).await();
      failing.set(true);
      Commit commit = ledger.appendAwaited(step(ledger, run("a"), "two"));
      Refused.with(LedgerError.STORAGE, commit::await);
      assertThat(told.get().code()).isEqualTo(LedgerError.STORAGE);
      failing.set(false);
      Refused.with(LedgerError.FAILED, () -> ledger.appendAwaited(opening("b")));
      Refused.with(LedgerError.STORAGE, commit::await);
      assertThat(writers).hasSize(2);
    }
    try (Ledger ledger = open()) {
      assertThat(ledger.treeSize()).isEqualTo(1);
    }
  }

  @Test
  void batches_that_come_while_a_caller_writes_are_one_group_behind_it() throws Exception {
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch release = new CountDownLatch(1);
    AtomicBoolean first = new AtomicBoolean(true);
    try (Ledger ledger =
        Ledger.open(
            config(home),
            disk ->
                (write, size, newSize) -> {
                  writers.add(Thread.currentThread());
                  if (first.getAndSet(false)) {
                    writing.countDown();
                    awaiting(release);
                  }
                  disk.write(write, size, newSize);
                })) {
      Thread alone = Thread.ofPlatform().start(() -> ledger.appendAwaited(opening("a")).await());
      writing.await();
      Commit second = ledger.appendAwaited(opening("b"));
      Commit third = ledger.appendAwaited(opening("c"));
      assertThat(second.isDone()).isFalse();
      release.countDown();
      third.await();
      alone.join();
      assertThat(second.isDone()).isTrue();
      assertThat(writers).hasSize(2).startsWith(alone).doesNotContain(Thread.currentThread());
      List<String> order = new ArrayList<>();
      ledger.eventsByIndex(0, 3, (_, event) -> order.add(event.run()));
      assertThat(order).containsExactly("a", "b", "c");
    }
  }

  private static void awaiting(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
