package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.journal.EventKind;
import dev.writ.guardian.document.Receipt;
import dev.writ.ledger.event.Event;
import dev.writ.replay.engine.ReplayResult.State;
import dev.writ.replay.error.ReplayError;
import dev.writ.verify.bundle.RecordedRun;
import dev.writ.verify.error.BundleError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Executes a recorded run again and names the first event that differs. The commit order, the clock
 * readings, the run's seed, inputs from other runs and the tools' outcomes are taken from the
 * recording; everything else is computed by the classes of the kernel (spec/replay.md). The
 * recording must have been verified before.
 */
public final class Replay {
  private final RecordedRun recording;
  private final ReplayOptions options;
  private final ReplayTally tally = new ReplayTally();
  private final List<Divergence> divergences = new ArrayList<>();
  private final ReplaySteps steps;
  private final DeletedContents deleted;
  private final Stepping stepping;
  private volatile State state = State.RUNNING;
  private Optional<Event> last = Optional.empty();
  private Optional<Digest> departed = Optional.empty();
  private Optional<WritException> failure = Optional.empty();
  private long events;
  private long done;

  /** Ends the walk over the events. */
  private static final class Stopped extends Error {
    private static final long serialVersionUID = 1L;

    Stopped() {
      super("stopped", null, false, false);
    }
  }

  public Replay(RecordedRun recording, ReplayOptions options) {
    this(recording, options, RecordedKernel.Maker.KERNEL);
  }

  /** For tests: another way to make the stages. */
  Replay(RecordedRun recording, ReplayOptions options, RecordedKernel.Maker maker) {
    this.recording = recording;
    this.options = options;
    this.steps = new ReplaySteps(this::intentOf, this::step);
    this.deleted = new DeletedContents(recording, tally);
    this.stepping = new Stepping(recording, options, maker, tally, divergences, deleted);
  }

  /** The state of the replay; may be called by another thread. */
  public State state() {
    return state;
  }

  /** Replays the whole recording. */
  public ReplayResult run() {
    recording.eventsAlone((journal, _, event) -> {
      if (journal == RecordedRun.Journal.RUN) {
        last = Optional.of(event);
        events++;
      } else if (journal == RecordedRun.Journal.CONSUMED) {
        deleted.event(event);
      }
    });
    try {
      recording.events(this::event);
      steps.flush();
      stepping.end();
    } catch (Stopped e) {
      // the first difference is enough
    } catch (WritException e) {
      failure = Optional.of(e);
    } catch (ReplayMismatch e) {
      failure =
          Optional.of(
              new WritException(
                  ReplayError.REPLAY_FAILED, "taking over: " + e.divergence().headline(), e));
    } catch (RuntimeException e) {
      failure =
          Optional.of(
              new WritException(
                  ReplayError.REPLAY_FAILED,
                  "at event " + done + ": " + e.getClass().getSimpleName() + " " + e.getMessage(),
                  e));
    } finally {
      stepping.close();
    }
    state =
        failure.isPresent()
            ? State.FAILED
            : divergences.isEmpty() ? State.COMPLETE : State.DIVERGED;
    return new ReplayResult(
        state,
        recording.manifest().run(),
        events,
        last.map(Event::id),
        departed.isPresent() ? departed : stepping.hash(),
        divergences,
        failure,
        tally.reexecuted(),
        tally.checkedLines(),
        tally.neitherLines());
  }

  private void event(RecordedRun.Journal journal, long index, Event event) {
    switch (journal) {
      case RUN -> steps.event(new Placed(index, event));
      case SYSTEM -> {
        steps.flush();
        stepping.system(event);
      }
      case CONSUMED -> {
        // A receipt of another run, whose document is read when it is consumed, a deletion or a
        // read.
      }
    }
  }

  private void step(List<Placed> events) {
    int before = divergences.size();
    stepping.step(events);
    done = events.getLast().event().seq() + 1;
    options.progress().at(done);
    if (divergences.size() > before && !options.all()) {
      departed = stepping.departed();
      throw new Stopped();
    }
  }

  private Digest intentOf(Digest receipt) {
    return recording
        .document(receipt)
        .map(e -> Receipt.read(e.document()).intent())
        .orElseThrow(() ->
            new WritException(BundleError.ENTRY_MISSING, EventKind.RECEIPT_SIGNED + " " + receipt));
  }
}
