package dev.writ.ledger;

import static dev.writ.ledger.Fixture.bytes;
import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import dev.writ.ledger.fsck.Fsck;
import dev.writ.ledger.fsck.FsckReport;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConcurrentCommitsShareASyncAndKeepTheirOrderTest {
  private static final int CALLERS = 64;
  private static final int EACH = 20;

  @TempDir Path home;

  /**
   * Callers that append in rounds, all of them once in each. A write waits for the whole round, so
   * that what is appended meanwhile can share the next one.
   */
  private static final class Rounds {
    private final CyclicBarrier all = new CyclicBarrier(CALLERS);
    private int begun;
    private int appended;
    private int writes;

    void append(Ledger ledger, Batch batch) throws Exception {
      add(1, 0);
      Commit commit = ledger.append(batch);
      add(0, 1);
      commit.await();
    }

    private synchronized void add(int begins, int ends) {
      begun += begins;
      appended += ends;
      notifyAll();
    }

    synchronized void write() {
      writes += begun > 0 ? 1 : 0; // before, the ledger is opened
      int round = (begun + CALLERS - 1) / CALLERS * CALLERS;
      try {
        while (appended < round) {
          wait();
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    synchronized int writes() {
      return writes;
    }
  }

  @Test
  void sixty_four_virtual_threads_on_runs_of_their_own() throws Exception {
    Rounds rounds = new Rounds();
    Ledger.create(config(home)).close();
    try (Ledger ledger =
            Ledger.open(
                config(home),
                disk ->
                    (write, size, newSize) -> {
                      rounds.write();
                      disk.write(write, size, newSize);
                    });
        ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
      List<Future<?>> callers = new ArrayList<>();
      for (int i = 0; i < CALLERS; i++) {
        RunId run = run("run-" + i);
        callers.add(
            threads.submit(() -> {
              writeRun(ledger, run, rounds);
              return null;
            }));
      }
      for (Future<?> caller : callers) {
        caller.get();
      }
      assertThat(ledger.treeSize()).isEqualTo(CALLERS * EACH);
      assertThat(rounds.writes()).as("synced writes").isLessThanOrEqualTo(2 * EACH);
    }
    FsckReport report = Fsck.check(Fsck.Options.of(config(home).dir()));
    assertThat(report.problems()).isEmpty();
    assertThat(report.treeSize()).isEqualTo(CALLERS * EACH);
  }

  private static void writeRun(Ledger ledger, RunId run, Rounds rounds) throws Exception {
    rounds.append(ledger, opening(run.run()));
    for (int i = 1; i < EACH; i++) {
      rounds.all.await();
      rounds.append(ledger, step(ledger, run, run + " " + i));
      // Durable before await returns: a reader of committed state must see it at once.
      assertThat(ledger.head(run).orElseThrow().seq()).isEqualTo(i);
      assertThat(ledger.indexOf(run, i)).isPresent();
    }
  }

  @Test
  void the_order_of_appending_is_the_order_of_the_log_though_nobody_awaited() {
    List<Commit> commits = new ArrayList<>();
    List<Event> expected = new ArrayList<>();
    try (Ledger ledger = Ledger.create(config(home))) {
      commits.add(ledger.append(opening("a")));
      commits.add(ledger.append(opening("b")));
      expected.add(Fixture.first("a"));
      expected.add(Fixture.first("b"));
      for (int i = 0; i < 300; i++) {
        RunId run = run(i % 3 == 0 ? "a" : "b");
        Batch batch = step(ledger, run, "step " + i);
        commits.add(ledger.append(batch));
        expected.add(ledger.pendingHead(run).orElseThrow());
      }
      commits.getLast().await();
      assertThat(commits).allMatch(Commit::isDone, "an earlier commit is done before a later");
      List<Event> log = new ArrayList<>();
      ledger.eventsByIndex(0, ledger.treeSize(), (index, event) -> log.add(event));
      assertThat(log).isEqualTo(expected);
    }
  }

  @Test
  void appending_returns_before_the_disk_does() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    CountDownLatch writing = new CountDownLatch(1);
    Ledger.create(config(home)).close();
    try (Ledger ledger =
        Ledger.open(
            config(home),
            disk ->
                (write, size, newSize) -> {
                  writing.countDown();
                  try {
                    release.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  disk.write(write, size, newSize);
                })) {
      Commit first = ledger.append(opening("a"));
      writing.await();
      Commit second = ledger.append(step(ledger, run("a"), "two"));
      assertThat(first.isDone()).isFalse();
      assertThat(second.isDone()).isFalse();
      assertThat(ledger.head(run("a"))).as("committed state alone").isEmpty();
      assertThat(ledger.treeSize()).isZero();
      assertThat(ledger.pendingHead(run("a")).orElseThrow().seq()).isEqualTo(1);
      release.countDown();
      second.await();
      assertThat(first.isDone()).isTrue();
      assertThat(ledger.head(run("a")).orElseThrow().seq()).isEqualTo(1);
    }
  }

  @Test
  void rows_of_batches_that_share_a_write_count_in_the_order_of_appending() throws Exception {
    CountDownLatch release = new CountDownLatch(1);
    AtomicInteger writes = new AtomicInteger();
    Ledger.create(config(home)).close();
    Envelope first = Fixture.document("the same");
    Envelope second = Envelope.sign(first.payloadType(), first.document(), Fixture.key(3));
    assertThat(second.id()).isEqualTo(first.id());
    try (Ledger ledger =
        Ledger.open(
            config(home),
            disk ->
                (write, size, newSize) -> {
                  try {
                    release.await();
                  } catch (InterruptedException e) {
                    throw new IllegalStateException(e);
                  }
                  writes.incrementAndGet();
                  disk.write(write, size, newSize);
                })) {
      Commit alone = ledger.append(opening("a"));
      while (ledger.commitsWaiting() > 0) {
        Thread.sleep(1); // until the appender has taken it, and waits for the disk
      }
      List<Batch> together =
          List.of(
              new Batch().put("t", "z", bytes("1")).put("t", "gone", bytes("1")),
              new Batch().put("t", "a", bytes("1")).put("t", "back", bytes("1")).document(first),
              new Batch().delete("t", "gone").put("t", "z", bytes("2")).document(second),
              new Batch().delete("t", "back").put("t", "a", bytes("2")),
              new Batch().put("t", "back", bytes("3")).put("t", "z", bytes("3")));
      List<Commit> commits = together.stream().map(ledger::append).toList();
      release.countDown();
      commits.getLast().await();
      assertThat(alone.isDone()).isTrue();
      assertThat(writes).hasValue(2);
      assertThat(ledger.get("t", "a")).contains(bytes("2"));
      assertThat(ledger.get("t", "z")).contains(bytes("3"));
      assertThat(ledger.get("t", "back")).contains(bytes("3"));
      assertThat(ledger.get("t", "gone")).isEmpty();
      assertThat(ledger.document(first.id()).orElseThrow().toBytes())
          .as("the envelope that came first")
          .isEqualTo(first.toBytes());
    }
  }

  @Test
  void closing_writes_what_waits() {
    Commit last;
    try (Ledger ledger = Ledger.create(config(home))) {
      ledger.append(opening("a"));
      last = ledger.append(step(ledger, run("a"), "two"));
    }
    last.await();
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.treeSize()).isEqualTo(2);
    }
  }
}
