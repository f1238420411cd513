package dev.writ.sinks.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.DriverOutcome.Metrics;
import dev.writ.fixture.Behaviours;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.schedule.LaneError;
import dev.writ.gateway.schedule.Ticket;
import dev.writ.sinks.ConfiguredSink;
import dev.writ.sinks.Sinks;
import dev.writ.sinks.feed.FeedObserver;
import dev.writ.sinks.feed.Feeder;
import dev.writ.sinks.feed.Pace;
import dev.writ.sinks.feed.RecordSink;
import dev.writ.sinks.feed.SinkOrder;
import dev.writ.sinks.feed.SinkOrders;
import dev.writ.sinks.feed.SinkRecord;
import dev.writ.surfaces.engine.EnginePlace;
import dev.writ.surfaces.engine.EngineSurface;
import dev.writ.surfaces.seed.SeedServer;
import dev.writ.surfaces.tools.ToolsSurface;
import dev.writ.verify.bundle.BundleExport;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** A server with the surface of seed 002 over a test's home, and sinks as `writ serve` has them. */
public final class SinkScene implements AutoCloseable {
  private static final String COMMANDS =
      """
      commands:
        workspace_root: /workspace
        sandbox: box
        output_bytes: 8388608
        roles:
          developer:
            commands: [pytest, python, node, npm, go, bash, sh]
            limits: { cpu: 2.0, mem_mb: 4096, timeout_sec: 600 }
            environment: [PYTHONUNBUFFERED]
        images: { pytest: "python:3.11-bookworm" }
        effect: { tool: exec, version: 1.0.0, operation: twice, params: { argv: $argv, cwd: $cwd, env: $env, image: $image } }
      """;

  /**
   * Attempts follow one another so soon that no test waits for them, and not so soon that their
   * connections take the processors from the server that starts.
   */
  private static final Pace QUICK =
      new Pace(
          Duration.ofMillis(20),
          Duration.ofMillis(1),
          Duration.ofMillis(100),
          Duration.ofMillis(500));

  /** Ends a test that would wait for ever; a minute is no promise of anything. */
  private static final int LOOKS_MAX = 3_000;

  public final SeedServer server;
  public final SinkOrders orders;
  private Function<InstantSource, List<ConfiguredSink>> configured;
  private final Heard heard = new Heard();
  private Sinks sinks;

  /** What the sinks told. */
  private static final class Heard implements FeedObserver {
    final List<String> lines = new ArrayList<>();

    private synchronized void add(String line) {
      lines.add(line);
      notifyAll();
    }

    @Override
    public void delivered(String sink, int records) {
      add("delivered");
    }

    @Override
    public void failed(String sink, WritException why) {
      add(why.code().code() + " " + why.found());
    }

    @Override
    public void recovered(String sink) {
      add("recovered");
    }

    @Override
    public void gaveUp(String sink, SinkRecord record, WritException why) {
      add("gave up " + record.id() + " " + why.code().code());
    }

    @Override
    public void rewound(String sink, long position) {
      add("rewound " + position);
    }

    @Override
    public void ordered(String sink, SinkOrder order) {
      add("ordered " + order.action());
    }

    synchronized void await(BooleanSupplier condition) {
      try {
        for (int looks = 0; !condition.getAsBoolean(); looks++) {
          if (looks == LOOKS_MAX) {
            throw new AssertionError("it never came: " + lines);
          }
          wait(20);
        }
      } catch (InterruptedException e) {
        throw new IllegalStateException(e);
      }
    }

    synchronized void clear() {
      lines.clear();
    }

    synchronized List<String> lines() {
      return List.copyOf(lines);
    }
  }

  /**
   * @param folder of the configuration
   * @param sinks its section
   */
  public SinkScene(Path dir, Path folder, String sinks) {
    this(dir, folder, sinks, "");
  }

  /**
   * @param more sections of the configuration
   */
  public SinkScene(Path dir, Path folder, String sinks, String more) {
    this(dir, configuration(folder, sinks, more));
  }

  private static Function<InstantSource, List<ConfiguredSink>> configuration(
      Path folder, String sinks, String more) {
    byte[] yaml =
        ("writ_gateway: 1\nsinks:\n" + sinks.indent(2) + more).getBytes(StandardCharsets.UTF_8);
    return clock ->
        ConfiguredSink.of(
            GatewayConfig.parse(yaml, "gateway.yaml", Map.of()), Map.of(), folder, clock);
  }

  /** Reads the configuration again while the sinks run. */
  public void readAgain() {
    sinks.use(configured.apply(server.home.clock));
  }

  /** Stops the server's sinks, and starts those of another configuration. */
  public void configure(Path folder, String other, String more) {
    stop();
    configured = configuration(folder, other, more);
    start();
  }

  /** With a sink of the test's own. */
  public SinkScene(Path dir, String name, RecordSink connection) {
    this(
        dir,
        _ ->
            List.of(
                new ConfiguredSink(
                    name,
                    "test",
                    "here",
                    Optional.empty(),
                    Optional.empty(),
                    Optional.empty(),
                    Digest.sha256(new byte[0]),
                    _ -> connection)));
  }

  private SinkScene(Path dir, Function<InstantSource, List<ConfiguredSink>> sinks) {
    this.configured = sinks;
    this.server =
        new SeedServer(
            dir,
            SeedServer.POLICY + COMMANDS,
            (seed, pipeline) ->
                List.of(
                    new ToolsSurface(pipeline, Optional.empty()),
                    new EngineSurface(
                        pipeline,
                        BundleExport.Packages.of(seed.home.tools)::manifest,
                        new LateLane(),
                        new EnginePlace(Optional.of("eu-1"), EnginePlace.NONE.queue()))),
            HttpLimits.DEFAULT);
    this.orders = new SinkOrders(dir.resolve("sinks"));
    ends(0, "1 passed\n");
    try {
      start();
    } catch (RuntimeException e) {
      server.close(); // or it goes on to write to a directory that the test's end deletes
      throw e;
    }
  }

  /** Of the engine: no turn comes in time. */
  private static final class LateLane implements Lane {
    @Override
    public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
      throw new WritException(LaneError.QUEUE_TTL, "");
    }
  }

  /** Calls the tool engine, whose queue gives no turn. */
  public SeedServer.Reply late(String requestId) {
    return server.post(
        "alice",
        EngineSurface.PATH,
        "{\"toolId\":\"words\",\"operation\":\"do\",\"requestId\":\""
            + requestId
            + "\",\"correlationId\":\"case-7\",\"inputPayload\":{\"text\":\"a b\"}}");
  }

  /** Makes the tool end so from now on. */
  public void ends(int code, String stdout) {
    byte[] output =
        Jcs.write(
            JsonValue.object()
                .put("exit_code", code)
                .put("image", "python:3.11-bookworm")
                .put("stdout", stdout)
                .put("stderr", "")
                .build());
    ends(
        new DriverOutcome(
            DriverOutcome.End.SUCCEEDED,
            "ok",
            "",
            Optional.of(new DriverOutcome.Output(output, Behaviours.JSON)),
            List.of(new DriverOutcome.Artifact("junit.xml", new byte[] {1}, "text/xml")),
            Metrics.NONE,
            JsonValue.object().build()));
  }

  /** Makes the tool end without an output from now on. */
  public void ends(DriverOutcome.End end, String reason, Metrics used) {
    ends(end, reason, used, JsonValue.object().build());
  }

  /** The same with what the driver observed. */
  public void ends(DriverOutcome.End end, String reason, Metrics used, JsonValue.Obj observations) {
    ends(
        new DriverOutcome(
            end,
            reason,
            "what the tool said of it",
            Optional.empty(),
            List.of(),
            used,
            observations));
  }

  private void ends(DriverOutcome outcome) {
    server.home.driver.refusesToPrepare(null);
    server.home.driver.does("exec", _ -> outcome);
  }

  /** Has a rule of policy delete the outputs of everything that was executed so far. */
  public void deleteOutputs() {
    server.home.activate(
        SeedServer.POLICY
            + COMMANDS
            + "retention: { rules: [ { name: minute, contents: [outputs], keep_s: 60 } ] }\n");
    server.home.clock.forward(Duration.ofSeconds(60));
    server.home.kernel().contents().retain(server.home.kernel().now());
  }

  /** As a disk does that loses files: each large content is gone, and its row is there. */
  public void loseLargeContents() throws IOException {
    try (Stream<Path> all = Files.walk(server.home.ledgerConfig().dir().resolve("blobs"))) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        Files.delete(file);
      }
    }
  }

  /** Starts the sinks, as a server does that starts. */
  public void start() {
    sinks =
        new Sinks(
            configured.apply(server.home.clock),
            server.home.kernel(),
            server.backend().changes(),
            orders,
            heard,
            QUICK,
            server.home.clock,
            new Random(7));
  }

  /** Ends the sinks, as a server does that stops. */
  public void stop() {
    sinks.close();
  }

  public Feeder sink() {
    return sinks.feeders().getFirst();
  }

  /** The seed's own example, with room for the test's tool; answers the execution's id. */
  public String exec(String cmd) {
    return exec("case-123", "DEV-123", cmd);
  }

  public String exec(String caseId, String subtask, String cmd) {
    String answer =
        server.post("alice", "/v1/tools/exec", body(caseId, subtask, cmd)).string("exec_id");
    if (answer.isEmpty()) {
      throw new AssertionError("not executed: " + cmd);
    }
    return answer;
  }

  /** A command that a stage before the dispatch refuses; answers the status. */
  public int refused(String cmd) {
    return denied(cmd);
  }

  /** A command that policy does not let the role run; answers the status. */
  public int denied(String cmd) {
    return server.post("alice", "/v1/tools/exec", body("case-123", "DEV-123", cmd)).status();
  }

  private static String body(String caseId, String subtask, String cmd) {
    var body =
        JsonValue.object()
            .put("role", "developer")
            .put("case_id", caseId)
            .put("cmd", cmd)
            .put("cwd", "/workspace/repo")
            .put("timeout_sec", 60)
            .put("limits", JsonValue.object().put("cpu", 1).put("mem_mb", 512).build());
    if (!subtask.isEmpty()) {
      body.put("subtask_id", subtask);
    }
    return new String(Jcs.write(body.build()), StandardCharsets.UTF_8);
  }

  /** Returns when the sink has read the whole log. */
  public void awaitAll() {
    heard.await(() -> sink().eventsBehind() == 0 && sink().state().trouble().isEmpty());
  }

  /** Returns when it is so. */
  public void awaitThat(BooleanSupplier condition) {
    heard.await(condition);
  }

  /** Returns when the sinks have told a line that begins so. */
  public String awaitLine(String begin) {
    heard.await(() -> heard.lines().stream().anyMatch(line -> line.startsWith(begin)));
    return heard.lines().stream().filter(line -> line.startsWith(begin)).findFirst().orElseThrow();
  }

  public List<String> lines() {
    return heard.lines();
  }

  public void forget() {
    heard.clear();
  }

  @Override
  public void close() {
    sinks.close();
    server.close();
  }
}
