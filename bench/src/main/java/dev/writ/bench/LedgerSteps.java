package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.Event;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** A durable commit of an event and a kilobyte of content, alone and in company. */
final class LedgerSteps implements AutoCloseable {
  static final int CALLERS = 64;

  private static final int CONTENT_BYTES = 1024;
  private static final int COMMITS_TO_WEIGH = 64;

  private final Stopwatch watch;
  private final Lab lab;
  private final Run alone;
  private final Run[] together = new Run[CALLERS];
  private final ForcedFile growing;
  private final ForcedFile preallocated;
  private final int commitBytes;
  private Cost last = new Cost(100_000, 0);

  LedgerSteps(Stopwatch watch, Lab lab) {
    this.watch = watch;
    this.lab = lab;
    this.alone = new Run("alone");
    for (int i = 0; i < CALLERS; i++) {
      together[i] = new Run("caller-" + i);
    }
    long before = lab.logBytes();
    for (int i = 0; i < COMMITS_TO_WEIGH; i++) {
      alone.commit();
    }
    commitBytes = (int) ((lab.logBytes() - before) / COMMITS_TO_WEIGH);
    growing = ForcedFile.growing(lab.directory().resolve("commit-growing"), commitBytes);
    preallocated =
        ForcedFile.preallocated(lab.directory().resolve("commit-preallocated"), commitBytes);
  }

  /** One run, and its head; used by one caller at a time. */
  private final class Run {
    private final String name;
    private final Instant at = lab.ledger().highWater();
    private Optional<Event> head = Optional.empty();

    Run(String name) {
      this.name = name;
    }

    Object commit() {
      Ledger ledger = lab.ledger();
      Digest body = lab.unique();
      Event next =
          head.map(h -> h.next("bench.commit", body, at, Optional.empty()))
              .orElseGet(
                  () -> Event.first("bench", name, "bench.commit", body, at, Optional.empty()));
      byte[] content = new byte[CONTENT_BYTES];
      System.arraycopy(body.bytes(), 0, content, 0, Digest.LENGTH);
      ledger.appendAwaited(new Batch().event(next).blob(content)).await();
      head = Optional.of(next);
      return next;
    }
  }

  List<Step> steps() {
    Step.Slice commit = watch.repeat(alone::commit);
    String bytes = commitBytes + " B";
    return List.of(
        new Step(
            "durable commit",
            "fdatasync, growing, " + bytes,
            new BenchTarget.RateAtLeast(0.8),
            commit,
            watch.repeat(growing::append)),
        new Step(
            "durable commit",
            "fdatasync, preallocated, " + bytes,
            new BenchTarget.RateAtLeast(0.8),
            commit,
            watch.repeat(preallocated::append)),
        new Step(
            "commits of " + CALLERS + " callers",
            "one caller",
            new BenchTarget.RateAtLeast(25),
            this::crowd,
            commit));
  }

  private Cost crowd() {
    int each = watch.each(last, CALLERS, 2_000);
    last =
        Stopwatch.concurrently(
            CALLERS,
            each,
            n -> {
              for (int i = 0; i < each; i++) {
                together[n].commit();
              }
            });
    return last;
  }

  @Override
  public void close() {
    growing.close();
    preallocated.close();
  }
}
