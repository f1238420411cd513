package dev.writ.sinks;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.Kernel;
import dev.writ.executor.journal.Tables;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.ledger.note.SignedRoot;
import dev.writ.replay.export.FileFormat;
import dev.writ.sinks.feed.DeadLetters;
import dev.writ.sinks.feed.FeedObserver;
import dev.writ.sinks.feed.Feeder;
import dev.writ.sinks.feed.Pace;
import dev.writ.sinks.feed.RecordReader;
import dev.writ.sinks.feed.RecordReader.Found;
import dev.writ.sinks.feed.RecordSource;
import dev.writ.sinks.feed.SinkOrders;
import dev.writ.sinks.feed.SinkState;
import dev.writ.sinks.file.FileSettings;
import dev.writ.sinks.incident.IncidentFeed;
import dev.writ.sinks.outcome.OutcomeReader;
import dev.writ.sinks.outcome.ProofReader;
import dev.writ.sinks.outcome.ReceiptReader;
import dev.writ.surfaces.tools.ExecJournal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.function.LongFunction;
import java.util.random.RandomGenerator;

/** The sinks of a server, each following the journal in a thread of its own. */
public final class Sinks implements AutoCloseable {
  /** How often an incident is sent to a receiver that rejects it. */
  private static final int REJECTED_MAX = 3;

  private final List<Feeder> feeders = new ArrayList<>();
  private final TreeMap<String, Digest> files = new TreeMap<>();
  private final String origin;
  private final Pace pace;

  /**
   * Starts them.
   *
   * @param changes announces new events of the kernel's ledger
   * @param orders of operators
   */
  public Sinks(
      List<ConfiguredSink> sinks,
      Kernel kernel,
      Changes changes,
      SinkOrders orders,
      FeedObserver observer,
      Pace pace,
      InstantSource clock,
      RandomGenerator random) {
    this.pace = pace;
    LedgerView ledger = kernel.ledger();
    this.origin = ledger.origin();
    for (ConfiguredSink sink : sinks) {
      files.put(sink.name(), sink.files());
      feeders.add(
          new Feeder(
              new Feeder.Parts(
                  sink.name(),
                  () -> sink.connection().apply(origin),
                  source(
                      ledger,
                      sink,
                      new LogProofs(size -> covering(kernel, size), kernel::signedRoot)),
                  initial(ledger, sink),
                  state -> kernel.auxiliary().saveSink(sink.name(), state.toBytes()),
                  orders,
                  sink.messages().map(of -> letters(kernel, sink.name(), of.giveUpAfter())),
                  changes,
                  observer,
                  pace,
                  clock,
                  random)));
    }
  }

  /**
   * Has those whose files hold something else now connect again, with what they hold: another
   * secret, for example.
   *
   * @param again the same sinks, read again
   */
  public synchronized void use(List<ConfiguredSink> again) {
    for (ConfiguredSink sink : again) {
      if (!sink.files().equals(files.get(sink.name()))) {
        feeders.stream()
            .filter(feeder -> feeder.name().equals(sink.name()))
            .forEach(feeder -> feeder.use(() -> sink.connection().apply(origin)));
        files.put(sink.name(), sink.files());
      }
    }
  }

  /**
   * What a sink gets, out of the journal.
   *
   * @param ledger has a checkpoint over all that proofs are asked of
   */
  public static RecordSource source(LedgerView ledger, ConfiguredSink sink) {
    return source(
        ledger,
        sink,
        new LogProofs(
            size -> ledger.checkpointCovering(size).orElseThrow(),
            _ -> {
              throw new IllegalArgumentException("only the log's own server signs receipts");
            }));
  }

  /** Where readers of proofs and receipts have what the log signs from. */
  private record LogProofs(LongFunction<Checkpoint> covering, LongFunction<SignedRoot> roots) {}

  /** Proofs of one batch have one checkpoint, and so have those that are made again later. */
  private static Checkpoint covering(Kernel kernel, long size) {
    return kernel.ledger().checkpointCovering(size).orElseGet(kernel::checkpoint);
  }

  private static RecordSource source(LedgerView ledger, ConfiguredSink sink, LogProofs proofs) {
    RecordReader reader =
        sink.messages()
            .map(of -> of.reader(ledger))
            .or(() -> sink.outcomes().map(format -> outcomes(ledger, format, proofs)))
            .orElseGet(() -> executions(ledger));
    return new RecordSource(ledger, reader, sink.tenant());
  }

  private static RecordReader outcomes(LedgerView ledger, String format, LogProofs proofs) {
    return switch (format) {
      case FileSettings.TLOG_PROOF -> new ProofReader(ledger, proofs.covering());
      case FileFormat.COSE_RECEIPT -> new ReceiptReader(ledger, proofs.roots());
      default -> new OutcomeReader(ledger, format);
    };
  }

  private static RecordReader executions(LedgerView ledger) {
    ExecJournal journal = new ExecJournal(ledger, IncidentFeed.contents(ledger));
    return event -> journal.read(event).map(entry -> new Found(entry.scope(), entry.fields()));
  }

  /** Messages begin with what comes: nobody wants to be called for incidents of last year. */
  private static SinkState initial(LedgerView ledger, ConfiguredSink sink) {
    return sink.messages().isPresent() && ledger.get(Tables.SINK, sink.name()).isEmpty()
        ? SinkState.from(ledger.treeSize())
        : SinkState.of(ledger, sink.name());
  }

  private static DeadLetters letters(Kernel kernel, String sink, Duration after) {
    return new DeadLetters(
        kernel.ledger(),
        sink,
        kernel.auxiliary()::saveDeadLetter,
        after,
        REJECTED_MAX,
        () -> time(kernel));
  }

  /** The ledger's where the clock does not fit it: by a clock that leapt all would be too old. */
  private static Instant time(Kernel kernel) {
    try {
      return kernel.look();
    } catch (WritException e) {
      return kernel.ledger().highWater();
    }
  }

  /** For metrics. */
  public List<Feeder> feeders() {
    return List.copyOf(feeders);
  }

  /** Ends all of them, and saves their states; the ledger must still be open. */
  @Override
  public void close() {
    feeders.forEach(Feeder::stop);
    long by = System.nanoTime() + pace.ending().toNanos();
    feeders.forEach(feeder -> feeder.closeBy(by));
  }
}
