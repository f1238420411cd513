package dev.writ.executor.reads;

import dev.writ.canonicalize.dsse.DocumentSigner;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.executor.document.ReadEvent;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.retention.ReadClass;
import dev.writ.ledger.Batch;
import dev.writ.ledger.Commit;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.event.Event;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * States in the log what people are about to read, as policy's section {@code reads} says
 * (spec/read-event.md). Thread safe.
 */
public final class ReadLog {
  /** What a credential reads again so soon is not stated again. */
  static final Duration AGAIN = Duration.ofSeconds(60);

  /** How many reads are remembered for that; beyond, the oldest are stated again. */
  private static final int KEPT_MAX = 16_384;

  private final Ledger ledger;
  private final DocumentSigner signer;
  private final int keptMax;
  private final ReentrantLock lock = new ReentrantLock();
  private final LinkedHashMap<Known, Instant> known = new LinkedHashMap<>();

  /**
   * What a person is about to read.
   *
   * @param credential the person's
   */
  public record Look(
      String credential, ReadEvent.Person by, List<ReadEvent.Thing> things, List<ReadClass> what) {
    public Look {
      things = List.copyOf(things);
      what = List.copyOf(what);
    }
  }

  private record Known(
      String credential, ReadEvent.Person by, ReadEvent.Thing thing, List<ReadClass> what) {}

  /**
   * @param signer the executor's
   */
  public ReadLog(Ledger ledger, DocumentSigner signer) {
    this(ledger, signer, KEPT_MAX);
  }

  /**
   * @param keptMax how many reads are remembered
   */
  ReadLog(Ledger ledger, DocumentSigner signer, int keptMax) {
    this.ledger = ledger;
    this.signer = signer;
    this.keptMax = keptMax;
  }

  /** Statements that are on their way into the log. */
  public final class Stated {
    private final Commit commit;
    private final List<Known> reads;
    private final Instant at;

    private Stated(Commit commit, List<Known> reads, Instant at) {
      this.commit = commit;
      this.reads = reads;
      this.at = at;
    }

    /** Returns when they are durable; only then may anything be handed out. */
    public void await() {
      commit.await();
      remember(reads, at);
    }
  }

  /**
   * Enqueues a statement about each thing that is to be stated.
   *
   * @param policy in force, and no other comes into force meanwhile
   * @param clock read only where policy asks for a statement
   * @return empty if nothing is to be stated
   */
  public Optional<Stated> state(Look look, Policy policy, Supplier<Instant> clock) {
    List<ReadClass> recorded = policy.recordsReads(look.by().tenant());
    List<ReadClass> what = recorded.stream().filter(look.what()::contains).toList();
    if (what.isEmpty()) {
      return Optional.empty();
    }
    Instant now = clock.get();
    lock.lock();
    try {
      List<Known> fresh =
          look.things().stream()
              .distinct()
              .map(thing -> new Known(look.credential(), look.by(), thing, what))
              .filter(read -> !isKnown(read, now))
              .toList();
      return fresh.isEmpty()
          ? Optional.empty()
          : Optional.of(new Stated(ledger.append(batch(fresh, policy, now)), fresh, now));
    } finally {
      lock.unlock();
    }
  }

  private boolean isKnown(Known read, Instant now) {
    Optional<Instant> at = Optional.ofNullable(known.get(read));
    return at.filter(then -> Duration.between(then, now).abs().compareTo(AGAIN) < 0).isPresent();
  }

  private Batch batch(List<Known> reads, Policy policy, Instant now) {
    Batch batch = new Batch();
    Optional<Event> head = ledger.pendingHead(ReadEvent.RUN);
    for (Known read : reads) {
      ReadEvent statement =
          new ReadEvent(read.by(), read.thing(), read.what(), policy.digest(), now);
      Envelope signed = signer.sign(ReadEvent.TYPE, statement.toJson());
      Event event =
          head.map(
                  before -> before.next(EventKind.CONTENT_READ, signed.id(), now, Optional.empty()))
              .orElseGet(() ->
                  Event.first(
                      ReadEvent.RUN.tenant(),
                      ReadEvent.RUN.run(),
                      EventKind.CONTENT_READ,
                      signed.id(),
                      now,
                      Optional.empty()));
      head = Optional.of(event);
      batch.event(event).document(signed);
    }
    return batch;
  }

  private void remember(List<Known> reads, Instant at) {
    lock.lock();
    try {
      for (Known read : reads) {
        known.remove(read);
        known.put(read, at);
        if (known.size() > keptMax) {
          known.pollFirstEntry();
        }
      }
    } finally {
      lock.unlock();
    }
  }
}
