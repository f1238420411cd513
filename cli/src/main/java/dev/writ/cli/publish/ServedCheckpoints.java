package dev.writ.cli.publish;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.console.operation.CheckpointView;
import dev.writ.executor.Kernel;
import dev.writ.gateway.config.CheckpointSettings;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.ops.Metrics;
import dev.writ.ledger.note.Cosignature;
import dev.writ.verify.stamp.TimeStamp;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The checkpoints of a server that {@code writ serve} runs: published in a thread of its own, for
 * which no effect waits. Thread safe.
 */
public final class ServedCheckpoints implements AutoCloseable {
  private static final Duration ENDS_WITHIN = Duration.ofSeconds(5);

  private final OwnLog log;
  private final PublishingLog lines;
  private final InstantSource clock;
  private final OptionalInt cell;
  private final ScheduledExecutorService thread =
      Executors.newSingleThreadScheduledExecutor(
          Thread.ofPlatform().daemon().name("writ-checkpoints").factory());
  private volatile Optional<Running> running = Optional.empty();

  /**
   * @param begun when everything had last succeeded before, or publishing began: what never
   *     succeeds gets old, too, and no alarm sees a number that is none
   */
  private record Running(CheckpointPublisher publisher, ScheduledFuture<?> rounds, Instant begun) {
    Instant wholeAt() {
      return publisher.state().wholeAt().orElse(begun);
    }
  }

  /**
   * @param lines gets lines of the log
   * @param cell which log it is, where an installation has several
   */
  public ServedCheckpoints(
      Kernel kernel, Consumer<JsonValue.Obj> lines, InstantSource clock, OptionalInt cell) {
    this.log = new OwnLog(kernel);
    this.lines = new PublishingLog(lines, clock);
    this.clock = clock;
    this.cell = cell;
  }

  /**
   * Publishes as that configuration says from now on, with what its files hold now; a round that is
   * at work ends.
   */
  public synchronized void use(GatewayConfig config) {
    if (thread.isShutdown()) {
      return;
    }
    running.ifPresent(ServedCheckpoints::stop);
    Instant begun = running.map(Running::wholeAt).orElseGet(clock::instant);
    running =
        config
            .extras()
            .checkpoints()
            .map(this::own)
            .map(settings -> {
              CheckpointPublisher publisher = new CheckpointPublisher(settings, log, lines, clock);
              return new Running(
                  publisher,
                  thread.scheduleWithFixedDelay(
                      () -> round(publisher), 0, settings.every().toSeconds(), TimeUnit.SECONDS),
                  begun);
            });
  }

  private CheckpointSettings own(CheckpointSettings settings) {
    if (cell.isEmpty()) {
      return settings;
    }
    CheckpointSettings own = settings.inCell(cell.getAsInt());
    own.folder().ifPresent(ServedCheckpoints::make);
    return own;
  }

  private static void make(Path folder) {
    try {
      Files.createDirectories(folder);
    } catch (IOException e) {
      return; // publishing there fails, and says so
    }
  }

  private static void stop(Running before) {
    before.rounds().cancel(false);
    before.publisher().close();
  }

  /** An exception would end all further rounds; its message may hold anything. */
  private void round(CheckpointPublisher publisher) {
    try {
      publisher.round();
    } catch (RuntimeException e) {
      lines.failed(
          "log", new WritException(GatewayError.INTERNAL, e.getClass().getName(), e), true);
    }
  }

  /** Adds its numbers to those of a server. */
  public void measure(Metrics metrics) {
    metrics.counter(
        "writ.checkpoints.published", "Checkpoints that were published", lines::published);
    for (String party : PublishingLog.PARTIES) {
      metrics.counter(
          "writ.checkpoints.failures",
          "Attempts to publish that failed, by who was in the way",
          "party",
          party,
          () -> lines.failures(party));
    }
    metrics.gauge(
        "writ.checkpoints.size",
        "Events that the last published checkpoint covers",
        () -> state().checkpoint().map(note -> (Number) note.size()).orElse(0));
    metrics.gauge(
        "writ.checkpoints.age.seconds",
        "Since publishing last succeeded as a whole, or began",
        () -> running.map(Running::wholeAt).map(this::age).orElse(Double.NaN));
  }

  private double age(Instant since) {
    return Duration.between(since, clock.instant()).toMillis() / 1000.0;
  }

  private Publication state() {
    return running.map(r -> r.publisher().state()).orElse(Publication.NONE);
  }

  /** What is known now; nothing where nothing is published. */
  public Optional<CheckpointView> view() {
    return running.map(r -> view(r.publisher().settings(), r.publisher().state()));
  }

  private static CheckpointView view(CheckpointSettings settings, Publication state) {
    List<CheckpointView.Witness> witnesses = new ArrayList<>();
    settings
        .witnesses()
        .forEach(w ->
            witnesses.add(
                new CheckpointView.Witness(
                    w.key().toString(),
                    w.key().name(),
                    state
                        .checkpoint()
                        .flatMap(note -> Cosignature.of(note, w.key()))
                        .map(Cosignature::at),
                    trouble(state, CheckpointPublisher.name(w)))));
    List<CheckpointView.Place> places = new ArrayList<>();
    settings.folder().ifPresent(_ -> places.add(place(state, "folder")));
    settings.bucket().ifPresent(_ -> places.add(place(state, "bucket")));
    return new CheckpointView(
        settings.every(),
        settings.quorum(),
        state.checkpoint().map(note -> new String(note.toBytes(), StandardCharsets.UTF_8)),
        state.wholeAt(),
        witnesses,
        places,
        settings.stamps().stream()
            .map(one ->
                new CheckpointView.Stamp(
                    one.name(),
                    Optional.ofNullable(state.stamps().get(one.name())).map(TimeStamp::at),
                    trouble(state, CheckpointPublisher.name(one))))
            .toList(),
        trouble(state, "log").or(() -> trouble(state, "witnesses")));
  }

  private static CheckpointView.Place place(Publication state, String kind) {
    return new CheckpointView.Place(
        kind, Optional.ofNullable(state.places().get(kind)), trouble(state, kind));
  }

  private static Optional<CheckpointView.Trouble> trouble(Publication state, String who) {
    return Optional.ofNullable(state.troubles().get(who))
        .map(t -> new CheckpointView.Trouble(t.code(), t.since()));
  }

  /** Ends what is at work; what a store does not answer at once is left behind. */
  @Override
  public void close() {
    synchronized (this) {
      thread.shutdown();
      running.ifPresent(ServedCheckpoints::stop);
    }
    try {
      thread.awaitTermination(ENDS_WITHIN.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
