package dev.writ.executor.journal;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Request;
import dev.writ.ledger.LedgerState;
import dev.writ.ledger.RunJournal;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.event.RunId;
import java.security.SecureRandom;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The runs in use. A caller borrows a run to work in it, and takes a turn to append to it. There is
 * no other way to append to a run, so an open run that is not borrowed can stay cached instead of
 * being read from the ledger again. Claims on a run that was not opened are dropped.
 */
public final class Runs {
  private static final int IDLE_MAX = 4_096;

  private final RunJournal ledger;
  private final SecureRandom random;
  private final TreeMap<RunId, Slot> slots = new TreeMap<>();

  /** Open runs that are not borrowed, in the order in which they were given back. */
  private final LinkedHashMap<RunId, Slot> idle = new LinkedHashMap<>();

  static final class Slot {
    final ReentrantLock lock = new ReentrantLock();
    final RunId id;
    int borrowers;
    boolean loaded;
    Optional<Event> head = Optional.empty();

    /** The head's id, if it is known without hashing. */
    Optional<Digest> headId = Optional.empty();

    Optional<RunState> state = Optional.empty();
    Optional<String> claimedOpener = Optional.empty();
    Optional<String> claimedSeed = Optional.empty();

    /** The subject that the run was opened or is claimed for, once that was asked. */
    Optional<String> owner = Optional.empty();

    /** Borrowers that claim the run for its owner while it is not open. */
    int claimants;

    /** Signalled when the run is opened, or when its last claim ends. */
    final Condition settled = lock.newCondition();

    Slot(RunId id) {
      this.id = id;
    }
  }

  public Runs(RunJournal ledger, SecureRandom random) {
    this.ledger = ledger;
    this.random = random;
  }

  /** Borrows a run; give it back only after everything enqueued through it is durable. */
  public Borrowed borrow(RunId id) {
    Slot slot;
    synchronized (slots) {
      Slot remembered = idle.remove(id);
      if (remembered != null) {
        slots.put(id, remembered);
      }
      slot = slots.computeIfAbsent(id, Slot::new);
      slot.borrowers++;
    }
    return new Borrowed(slot);
  }

  /** A run in use. */
  public final class Borrowed implements AutoCloseable {
    private final Slot slot;
    private boolean claims;

    private Borrowed(Slot slot) {
      this.slot = slot;
    }

    public RunId id() {
      return slot.id;
    }

    /**
     * The run's seed. A run that is not open yet is claimed for {@code opener}, with the new seed
     * with which it will be opened.
     *
     * @throws WritException {@code EXE-901} closed, {@code EXE-902} opened or claimed by another
     *     key
     */
    public String seedFor(String opener) {
      slot.lock.lock();
      try {
        load(slot);
        if (slot.state.isPresent()) {
          RunState state = slot.state.get();
          requireOpener(
              state.opener(), opener); // checked first: others must not learn that a run is closed
          requireOpen(state);
          return state.seed();
        }
        if (slot.claimedOpener.isEmpty()) {
          byte[] seed = new byte[32];
          random.nextBytes(seed);
          slot.claimedOpener = Optional.of(opener);
          slot.claimedSeed = Optional.of(HexFormat.of().formatHex(seed));
        }
        requireOpener(slot.claimedOpener.get(), opener);
        return slot.claimedSeed.orElseThrow();
      } finally {
        slot.lock.unlock();
      }
    }

    /**
     * The run's owner: the subject of its first request. A run that is not open yet is claimed for
     * {@code subject}; if it is claimed for another subject this waits until that is settled,
     * because judgements depend on whose request comes first in the journal.
     */
    public String ownerFor(String subject) {
      slot.lock.lock();
      try {
        load(slot);
        while (slot.state.isEmpty() && slot.owner.filter(o -> !o.equals(subject)).isPresent()) {
          slot.settled.awaitUninterruptibly();
        }
        if (slot.owner.isEmpty()) {
          slot.owner =
              Optional.of(slot.state.isPresent() ? firstSubject(ledger, slot.id) : subject);
        }
        if (slot.state.isEmpty() && !claims) {
          claims = true;
          slot.claimants++;
        }
        return slot.owner.get();
      } finally {
        slot.lock.unlock();
      }
    }

    private void giveUpClaim() {
      slot.lock.lock();
      try {
        if (claims && --slot.claimants == 0 && slot.state.isEmpty()) {
          slot.owner = Optional.empty();
          slot.settled.signalAll();
        }
        claims = false;
      } finally {
        slot.lock.unlock();
      }
    }

    /**
     * Takes the run's turn to append; closing the turn ends it.
     *
     * @throws WritException {@code LED-022} once the ledger has stopped
     */
    public RunTurn turn() {
      slot.lock.lock();
      try {
        ledger.requireSound();
        load(slot);
        return new RunTurn(ledger, slot);
      } catch (RuntimeException | Error e) {
        slot.lock.unlock();
        throw e;
      }
    }

    /**
     * @throws WritException {@code EXE-901} when the run is closed
     */
    public void requireNotClosed() {
      slot.lock.lock();
      try {
        load(slot);
        slot.state.ifPresent(this::requireOpen);
      } finally {
        slot.lock.unlock();
      }
    }

    private void requireOpen(RunState state) {
      if (state.closed()) {
        throw new WritException(ExecutorError.RUN_CLOSED, slot.id.toString());
      }
    }

    private void requireOpener(String opener, String found) {
      if (!opener.equals(found)) {
        throw new WritException(ExecutorError.NOT_THE_OPENER, "asked by key " + found);
      }
    }

    @Override
    public void close() {
      giveUpClaim();
      synchronized (slots) {
        if (--slot.borrowers == 0) {
          slots.remove(slot.id);
          if (slot.state.isPresent()) {
            idle.put(slot.id, slot);
            if (idle.size() > IDLE_MAX) {
              idle.pollFirstEntry();
            }
          }
        }
      }
    }
  }

  /** The subject of an open run's first request, whose event follows that of the opening. */
  public static String firstSubject(LedgerState ledger, RunId run) {
    Event first = ledger.event(run, 1).orElseThrow();
    return Request.read(ledger.document(first.body()).orElseThrow().document()).scope().subject();
  }

  private void load(Slot slot) {
    if (!slot.loaded) {
      slot.head = ledger.head(slot.id);
      slot.state =
          ledger.get(Tables.RUN, Tables.key(slot.id.tenant(), slot.id.run())).map(RunState::parse);
      slot.loaded = true;
    }
  }
}
