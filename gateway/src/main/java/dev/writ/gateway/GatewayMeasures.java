package dev.writ.gateway;

import dev.writ.canonicalize.disk.Descriptors;
import dev.writ.executor.Kernel;
import dev.writ.gateway.http.Connections;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;

/** The numbers of a server that its {@code /metrics} shows (spec/telemetry.md). */
final class GatewayMeasures {
  private GatewayMeasures() {}

  /** Measures calls and their connections. */
  static void calls(Metrics metrics, ConcurrencyLimiter places, Connections connections) {
    metrics.gauge("writ.http.at.work", "Calls at work", places::atWork);
    metrics.gauge("writ.http.streams", "Answers that are streams", places::streams);
    metrics.gauge(
        "writ.http.unverified", "Requests whose body will say whose they are", places::unverified);
    metrics.gauge("writ.http.memory.bytes", "Memory that calls hold", places::memoryUsed);
    metrics.gauge("writ.http.connections", "Open connections", connections::open);
    metrics.counter(
        "writ.http.connections.refused", "Connections without a place", connections::refused);
    metrics.counter(
        "writ.http.connections.evicted", "Connections that made room", connections::evicted);
  }

  /** Measures the process, its log and the ledger under it. */
  static void process(Metrics metrics, JsonLog log, int connectionsMax, Kernel kernel) {
    metrics.counter("writ.log.lines.left.out", "Log lines not written", log::leftOut);
    metrics.gauge("writ.http.connections.max", "Connections at most", () -> connectionsMax);
    metrics.gauge(
        "writ.process.descriptors",
        "Files, sockets and pipes that are open",
        () -> Descriptors.open().orElse(0));
    metrics.gauge("writ.log.size", "Events in the log", () -> kernel.ledger().treeSize());
    metrics.gauge("writ.ledger.waiting", "Batches that wait for the disk", kernel::commitsWaiting);
  }

  /** Measures the sandboxes of tools that are processes. */
  static void sandboxes(Metrics metrics, Confining confining) {
    metrics.gauge("writ.sandboxes.running", "Sandboxes that live", confining::running);
    metrics.counter("writ.sandboxes.started", "Sandboxes that were made", confining::started);
    for (String reason : confining.ended().keySet()) {
      metrics.counter(
          "writ.sandbox.commands",
          "Commands that ended in a sandbox, by why",
          "reason",
          reason,
          () -> confining.ended().get(reason));
    }
  }
}
