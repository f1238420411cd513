package dev.writ.sinks;

import dev.writ.executor.Kernel;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.ledger.LedgerView;
import dev.writ.sinks.feed.FeedObserver;
import dev.writ.sinks.feed.Feeder;
import dev.writ.sinks.feed.Pace;
import dev.writ.sinks.feed.RecordSource;
import dev.writ.sinks.feed.SinkOrders;
import dev.writ.sinks.feed.SinkState;
import dev.writ.surfaces.tools.ExecJournal;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.random.RandomGenerator;

/** The sinks of a server, each following the journal in a thread of its own. */
public final class Sinks implements AutoCloseable {
  private final List<Feeder> feeders = new ArrayList<>();

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
    LedgerView ledger = kernel.ledger();
    ExecJournal journal =
        new ExecJournal(
            ledger,
            (_, content, bytesMax) ->
                ledger.hasBlob(content.digest())
                    ? Optional.of(ledger.blob(content.digest(), bytesMax))
                    : Optional.empty());
    for (ConfiguredSink sink : sinks) {
      feeders.add(
          new Feeder(
              new Feeder.Parts(
                  sink.name(),
                  () -> sink.connection().apply(ledger.origin()),
                  new RecordSource(ledger, journal, sink.tenant()),
                  SinkState.of(ledger, sink.name()),
                  state -> kernel.saveSink(sink.name(), state.toBytes()),
                  orders,
                  changes,
                  observer,
                  pace,
                  clock,
                  random)));
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
    feeders.forEach(Feeder::close);
  }
}
