package dev.writ.console.page;

import dev.writ.console.operation.CheckpointView;
import dev.writ.console.operation.IncidentPage;
import dev.writ.console.operation.IncidentPage.Incident;
import dev.writ.console.operation.OperatedServer;
import dev.writ.console.operation.SinkView;
import dev.writ.gateway.ops.Readiness;
import dev.writ.gateway.ops.ServerHealth;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** What the command line knows of a server, made up: well, or with everything that can be wrong. */
final class DeskState implements OperatedServer {
  private static final Instant SINCE = Instant.parse("2026-01-01T00:00:00.000Z");

  volatile boolean well;
  volatile CheckpointView published;

  @Override
  public ServerHealth health() {
    TreeMap<String, Long> ended = new TreeMap<>();
    ended.put("ok", 41L);
    return new ServerHealth(
        SINCE,
        List.of(
            new Readiness.Check("disk", true, Optional.empty()),
            new Readiness.Check("sandbox", well, well ? Optional.empty() : Optional.of("SBX-001"))),
        0,
        1,
        0,
        OptionalLong.of(81_604_378_624L),
        Optional.of(
            new ServerHealth.Sandboxes(
                Optional.of("bubblewrap 0.11"), 2, 43, ended, guarantees())));
  }

  private List<ServerHealth.Guarantee> guarantees() {
    return List.of(
        new ServerHealth.Guarantee("seccomp", true, true, "a filter of 300 calls"),
        new ServerHealth.Guarantee("memory-limit", well, true, Desk.HOSTILE),
        new ServerHealth.Guarantee("landlock", false, false, "the kernel has none"));
  }

  @Override
  public List<SinkView> sinks(String tenant) {
    SinkView file =
        new SinkView("file", "file", "current", 9, 0, 0, 9, 0, Optional.empty(), Optional.empty());
    if (well || !tenant.equals("acme")) {
      return List.of(file);
    }
    return List.of(
        file,
        new SinkView(
            Desk.HOSTILE,
            "webhook",
            "failing",
            4,
            2,
            60,
            3,
            5,
            Optional.of(1L),
            Optional.of(new SinkView.Trouble("SNK-001", SINCE))));
  }

  @Override
  public Optional<CheckpointView> checkpoints() {
    return Optional.ofNullable(published);
  }

  @Override
  public IncidentPage incidents(String tenant, long before, int limit) {
    return new IncidentPage(
        List.of(
            new Incident(
                "1-7",
                SINCE,
                "PolicyDenied",
                "GRD-102",
                Desk.HOSTILE,
                "mail",
                "sha256:" + "0".repeat(64))),
        0);
  }
}
