package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.publish.ServedCheckpoints;
import dev.writ.console.operation.CheckpointView;
import dev.writ.console.operation.IncidentPage;
import dev.writ.console.operation.OperatedServer;
import dev.writ.console.operation.OperationError;
import dev.writ.console.operation.SinkView;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.config.AlertThresholds;
import dev.writ.gateway.ops.ServerHealth;
import dev.writ.ledger.LedgerView;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.sinks.feed.Feeder;
import dev.writ.sinks.feed.RecordSource;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.sinks.feed.SinkState;
import dev.writ.sinks.incident.IncidentFeed;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the console's page for operators shows of a server that {@code writ serve} runs. Its surface
 * is made before the server and its sinks are, so they come later. Thread safe.
 */
final class ServedOperations implements OperatedServer {
  /** Events that one question reads: each may cost a few documents. */
  private static final int EVENTS_MAX = 2_000;

  private final LedgerView ledger;
  private final AlertThresholds thresholds;
  private volatile Optional<Gateway> gateway = Optional.empty();
  private volatile List<Fed> fed = List.of();
  private volatile Optional<ServedCheckpoints> published = Optional.empty();

  /** A sink, and what feeds it. */
  private record Fed(ConfiguredSink sink, Feeder feeder) {}

  ServedOperations(LedgerView ledger, AlertThresholds thresholds) {
    this.ledger = ledger;
    this.thresholds = thresholds;
  }

  /** The server has started. */
  void serves(Gateway started) {
    gateway = Optional.of(started);
  }

  /** Its sinks have started. */
  void feeds(List<ConfiguredSink> sinks, List<Feeder> feeders) {
    TreeMap<String, ConfiguredSink> byName = new TreeMap<>();
    sinks.forEach(sink -> byName.put(sink.name(), sink));
    fed = feeders.stream().map(feeder -> new Fed(byName.get(feeder.name()), feeder)).toList();
  }

  /** Its checkpoints are published by that. */
  void publishes(ServedCheckpoints checkpoints) {
    published = Optional.of(checkpoints);
  }

  @Override
  public Optional<CheckpointView> checkpoints() {
    if (gateway.isEmpty()) {
      throw starting();
    }
    return published.flatMap(ServedCheckpoints::view);
  }

  @Override
  public ServerHealth health() {
    return gateway.orElseThrow(ServedOperations::starting).health();
  }

  private static WritException starting() {
    return new WritException(OperationError.STARTING, "it does not listen yet");
  }

  @Override
  public List<SinkView> sinks(String tenant) {
    if (gateway.isEmpty()) {
      throw starting();
    }
    return fed.stream()
        .filter(each -> each.sink.tenant().filter(of -> !of.equals(tenant)).isEmpty())
        .map(each -> view(each.sink, each.feeder))
        .toList();
  }

  private static SinkView view(ConfiguredSink sink, Feeder feeder) {
    SinkState state = feeder.state();
    long behind = feeder.eventsBehind();
    return new SinkView(
        sink.name(),
        sink.kind(),
        SinkCommand.word(state, behind),
        state.position(),
        behind,
        Math.round(feeder.secondsBehind()),
        state.delivered(),
        feeder.failures(),
        feeder.deadLetters(),
        state.trouble().map(t -> new SinkView.Trouble(t.code(), t.since())));
  }

  @Override
  public IncidentPage incidents(String tenant, long before, int limit) {
    IncidentFeed all = new IncidentFeed(new TreeSet<>(), thresholds, Duration.ZERO);
    RecordSource source = new RecordSource(ledger, all.reader(ledger), Optional.of(tenant));
    List<IncidentPage.Incident> found = new ArrayList<>();
    long end = Math.max(0, before - EVENTS_MAX);
    long at = before;
    while (at > end && found.size() < limit) {
      at--;
      source.record(at).map(ServedOperations::incident).ifPresent(found::add);
    }
    return new IncidentPage(found, at);
  }

  private static IncidentPage.Incident incident(SinkRecord record) {
    return new IncidentPage.Incident(
        record.id().toString(),
        record.at(),
        record.text("kind"),
        record.text("code"),
        record.scope().subject(),
        record.text("toolId"),
        record.request());
  }
}
