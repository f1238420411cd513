package dev.writ.ledger;

import static dev.writ.ledger.Fixture.config;
import static dev.writ.ledger.Fixture.opening;
import static dev.writ.ledger.Fixture.run;
import static dev.writ.ledger.Fixture.step;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class AFailedWriteStopsTheLedgerTest {
  @TempDir Path home;

  /** What the disk does next: nothing, or throw. */
  private final AtomicReference<RuntimeException> failure = new AtomicReference<>();

  private final CountDownLatch failing = new CountDownLatch(1);
  private final CountDownLatch enqueued = new CountDownLatch(1);

  @BeforeEach
  void create() {
    Ledger.create(config(home)).close();
  }

  private Ledger open() {
    return Ledger.open(
        config(home),
        disk ->
            (write, size, newSize) -> {
              if (failure.get() != null) {
                failing.countDown();
                try {
                  enqueued.await();
                } catch (InterruptedException e) {
                  throw new IllegalStateException(e);
                }
                throw failure.get();
              }
              disk.write(write, size, newSize);
            });
  }

  static Stream<RuntimeException> failures() {
    return Stream.of(
        new WritException(LedgerError.DISK_FULL, "injected"),
        new WritException(LedgerError.STORAGE, "injected"),
        new IllegalStateException("injected"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void the_commit_and_all_behind_it_fail_and_nothing_more_is_taken(RuntimeException thrown)
      throws Exception {
    ErrorCode code = thrown instanceof WritException e ? e.code() : LedgerError.FAILED;
    try (Ledger ledger = open()) {
      ledger.append(opening("a")).await();
      failure.set(thrown);
      Commit fails = ledger.append(step(ledger, run("a"), "fails"));
      failing.await();
      Commit behind = ledger.append(step(ledger, run("a"), "behind"));
      Commit other = ledger.append(opening("b"));
      enqueued.countDown();
      Refused.with(code, fails::await);
      Refused.with(code, behind::await);
      Refused.with(code, other::await);
      Refused.with(code, behind::await);
      failure.set(null); // The disk is well again; the ledger stays stopped all the same.
      Refused.with(LedgerError.FAILED, () -> ledger.append(opening("c")));
      Refused.with(LedgerError.FAILED, ledger::checkpoint);
      Refused.with(LedgerError.FAILED, () -> ledger.pendingHead(run("a")));
      assertThat(ledger.treeSize()).isEqualTo(1);
      assertThat(ledger.head(run("a"))).as("reading goes on").contains(Fixture.first("a"));
    }
    try (Ledger ledger = Ledger.open(config(home))) {
      assertThat(ledger.treeSize()).isEqualTo(1);
      ledger.append(step(ledger, run("a"), "goes on")).await();
    }
  }

  @Test
  void an_anchor_that_cannot_be_written_stops_the_ledger_too() throws IOException {
    Path away = home.resolve("away");
    Files.createDirectory(away);
    LedgerConfig config =
        new LedgerConfig(
            home.resolve("data2"),
            away.resolve("anchor"),
            Fixture.ORIGIN,
            Fixture.LOG_KEY,
            config(home).clock());
    Ledger ledger = Ledger.create(config);
    Files.createDirectories(away.resolve(".anchor.new/in the way"));
    ledger.append(opening("a")).await();
    assertThatThrownBy(ledger::close)
        .isInstanceOfSatisfying(
            WritException.class,
            e -> {
              assertThat(e.code()).isEqualTo(LedgerError.ANCHOR_WRITE);
              assertThat(e.found()).contains(".anchor.new");
              assertThat(e.getMessage()).doesNotContain(LedgerError.STORAGE.remedy());
            });
    DurableFiles.deleteTree(away);
    Refused.with(LedgerError.ANCHOR_MISSING, () -> Ledger.open(config).close());
  }

  @Test
  void after_closing_everything_is_refused_with_its_code() {
    Ledger ledger = open();
    ledger.close();
    ledger.close();
    Refused.with(LedgerError.CLOSED, () -> ledger.append(opening("a")));
    Refused.with(LedgerError.CLOSED, ledger::checkpoint);
    Refused.with(LedgerError.CLOSED, () -> ledger.head(run("a")));
    Refused.with(LedgerError.CLOSED, () -> ledger.runs(run -> {}));
    Refused.with(LedgerError.CLOSED, ledger::latestCheckpoint);
  }
}
