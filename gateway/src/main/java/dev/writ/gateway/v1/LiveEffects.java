package dev.writ.gateway.v1;

import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.view.EffectView;
import dev.writ.gateway.view.Effects;
import dev.writ.ledger.LedgerView;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Follows the journal for everybody who watches effects: one thread, which lives as long as there
 * are readers, makes each row once. It reads what is committed, so no effect waits for it. Readers
 * take the rows from a ring at their own pace; who is too slow is told what was passed over.
 */
final class LiveEffects {
  /** Events that are read at a time. */
  private static final int PIECE = 2_000;

  /** Commits of this process wake the follower; those of others are seen this soon. */
  private static final Duration LOOK_EVERY = Duration.ofMillis(500);

  /**
   * Between two looks: an effect's events mostly come within a few milliseconds, and so make one
   * row.
   */
  private static final Duration BREATH = Duration.ofMillis(50);

  private final LedgerView ledger;
  private final Effects effects;
  private final Changes changes;
  private final int ringSize;
  private final int behindMax;
  private Optional<Following> current = Optional.empty();

  LiveEffects(LedgerView ledger, Effects effects, Changes changes) {
    this(ledger, effects, changes, 4096, 20_000);
  }

  /**
   * @param ringSize rows that a reader may be behind
   * @param behindMax more events at once are passed over, and readers are told
   */
  LiveEffects(LedgerView ledger, Effects effects, Changes changes, int ringSize, int behindMax) {
    this.ledger = ledger;
    this.effects = effects;
    this.changes = changes;
    this.ringSize = ringSize;
    this.behindMax = behindMax;
  }

  /**
   * One step of the journal.
   *
   * @param leaf the place of the event that led to it; of what was passed over, that behind it
   * @param row absent where everything before that place was passed over
   */
  record Step(long leaf, Optional<EffectView> row) {
    static Step passedOver(long to) {
      return new Step(to, Optional.empty());
    }
  }

  /**
   * What a reader takes.
   *
   * @param leaf everything before that place is in it or was taken before
   * @param next what comes then
   */
  record Taken(List<Step> steps, long leaf, long next) {}

  /** Begins to watch. */
  synchronized Reading open() {
    Following following = current.filter(Following::join).orElseGet(this::begin);
    return new Reading(following);
  }

  private Following begin() {
    Following following = new Following(ledger.treeSize());
    current = Optional.of(following);
    Thread.ofVirtual().name("writ-live-effects").start(following::run);
    return following;
  }

  /** Whether there is an event at that place of the log. */
  boolean reaches(long leaf) {
    return leaf < ledger.treeSize();
  }

  /** What happened in a part of the log; one step that says so where that is too much. */
  List<Step> steps(long from, long to) {
    if (to - from > behindMax) {
      return List.of(Step.passedOver(to));
    }
    return effects.changes(from, to).stream()
        .map(change -> new Step(change.leaf(), Optional.of(change.row())))
        .toList();
  }

  /** One who watches. Its methods are called by one thread. */
  static final class Reading implements AutoCloseable {
    private final Following following;
    private final long from;
    private long at;

    private Reading(Following following) {
      this.following = following;
      synchronized (following) {
        this.at = following.next;
        this.from = following.leaf;
      }
    }

    /** The place in the log from which on changes come. */
    long from() {
      return from;
    }

    /**
     * What came since the last time; nothing after some time without news.
     *
     * @throws RuntimeException what ended the follower: a ledger that is closed, for example
     */
    Taken take() throws InterruptedException {
      Taken taken = following.take(at);
      at = taken.next();
      return taken;
    }

    @Override
    public void close() {
      following.leave();
    }
  }

  /** One life of the thread, with its first reader there from the beginning. */
  private final class Following {
    private final Step[] ring = new Step[ringSize];
    private long next;
    private long leaf;
    private int readers = 1;
    private boolean ended;
    private Optional<RuntimeException> failure = Optional.empty();

    Following(long leaf) {
      this.leaf = leaf;
    }

    /** Adds a reader, unless it has ended. */
    synchronized boolean join() {
      if (!ended) {
        readers++;
      }
      return !ended;
    }

    synchronized void leave() {
      readers--;
    }

    synchronized Taken take(long at) throws InterruptedException {
      if (at == next && failure.isEmpty()) {
        wait(LOOK_EVERY.toMillis());
      }
      if (failure.isPresent()) {
        throw failure.get();
      }
      List<Step> steps = new ArrayList<>();
      if (next - at > ringSize) {
        steps.add(Step.passedOver(leaf));
      } else {
        for (long i = at; i < next; i++) {
          steps.add(ring[(int) (i % ringSize)]);
        }
      }
      return new Taken(steps, leaf, next);
    }

    void run() {
      try {
        while (goesOn()) {
          long seen = changes.count();
          if (look()) {
            pause();
          } else {
            changes.await(seen, LOOK_EVERY);
          }
        }
      } catch (RuntimeException e) {
        end(e);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        end(new IllegalStateException(e));
      }
    }

    private synchronized boolean goesOn() {
      ended = readers == 0;
      return !ended;
    }

    private synchronized void pause() throws InterruptedException {
      wait(BREATH.toMillis());
    }

    private synchronized void end(RuntimeException why) {
      ended = true;
      failure = Optional.of(why);
      notifyAll();
    }

    /** Whether there was something new. */
    private boolean look() {
      long from = leaf; // changed by this thread alone
      long size = ledger.treeSize();
      long to = size - from > behindMax ? size : Math.min(size, from + PIECE);
      if (to > from) {
        publish(steps(from, to), to);
      }
      return to > from;
    }

    private synchronized void publish(List<Step> steps, long to) {
      for (Step step : steps) {
        ring[(int) (next % ringSize)] = step;
        next++;
      }
      leaf = to;
      notifyAll();
    }
  }
}
