package dev.writ.surfaces.seed;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestDriver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.fixture.TestTools;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.ops.EffectTelemetry;
import dev.writ.gateway.ops.JsonLog;
import dev.writ.gateway.ops.Metrics;
import dev.writ.gateway.ops.Watch;
import dev.writ.gateway.pipeline.Backend;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.LaneObserver;
import dev.writ.gateway.schedule.Scheduler;
import dev.writ.guardian.document.Decision;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerView;
import dev.writ.verify.audit.Audit;
import dev.writ.verify.audit.AuditReport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.BiFunction;
import java.util.function.Function;

/** A server with surfaces of the seeds over a kernel of tests, on a free loopback port. */
public final class SeedServer implements AutoCloseable {
  /** Alice may be vouched for by all surfaces; exec and code_interpreter are test tools. */
  public static final String POLICY =
      TestPolicy.YAML
          .replace(
              "subject: alice, roles: [worker]",
              "subject: alice, roles: [developer, worker], surfaces: [engine, execute, logline,"
                  + " tools]")
          .replace(
              "subject: bob, roles: [worker]", "subject: bob, roles: [worker], surfaces: [engine]")
          .replace(
              "subject: eve, roles: [worker]",
              "subject: eve, roles: [worker], surfaces: [engine, execute, logline, tools]")
          .replace(
              "  worker:\n    tools: [",
              """
                developer:
                  tools: [exec]
                  resources: { cpu_ms: 1200000, memory_bytes: 4294967296, output_bytes: 8388608, wall_ms: 600000 }
                  sandboxes: [box]
                worker:
                  tools: [code_interpreter, gated, nodriver, words, \
              """)
          .replace(
              "  - { effect: { tool: calc },",
              "  - { effect: { tool: exec }, require: { cel: 'true' } }\n"
                  + "  - { effect: { tool: words }, require: { cel: '!has(params.forbidden)' } }\n"
                  + "  - { effect: { tool: gated }, require: { approvals: { role: reviewer, count:"
                  + " 1 } } }\n"
                  + "  - { effect: { tool: nodriver }, require: { cel: 'true' } }\n"
                  + "  - { effect: { tool: code_interpreter }, require: { cel: 'true' } }\n"
                  + "  - { effect: { tool: calc },");

  public final TestHome home;
  public final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

  /** The calls that ended, as the log sees them. */
  public final BlockingQueue<Observer.Finished> finished = new LinkedBlockingQueue<>();

  public final ConcurrencyLimiter places;
  public final Running running = new Running();
  public final Metrics metrics = new Metrics(() -> policyInForce(), _ -> Optional.empty());
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private final Watch watch = new Watch(metrics, (_, _) -> {}, _ -> {});
  private final EffectTelemetry telemetry =
      new EffectTelemetry(
          metrics,
          watch,
          new JsonLog(new PrintStream(log, true, StandardCharsets.UTF_8), Instant::now));
  private Backend backend;
  private Scheduler lane;
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final BiFunction<SeedServer, Pipeline, List<Surface>> surfaces;
  private final HttpLimits limits;
  private final Listen listen;
  private GatewayServer server;

  public SeedServer(Path dir, String policy, Function<Pipeline, List<Surface>> surfaces) {
    this(dir, policy, surfaces, HttpLimits.DEFAULT);
  }

  public SeedServer(
      Path dir, String policy, Function<Pipeline, List<Surface>> surfaces, HttpLimits limits) {
    this(dir, policy, (_, pipeline) -> surfaces.apply(pipeline), limits);
  }

  /** With surfaces that are made of more than the pipeline. */
  public SeedServer(
      Path dir,
      String policy,
      BiFunction<SeedServer, Pipeline, List<Surface>> surfaces,
      HttpLimits limits) {
    this(dir, policy, surfaces, limits, Listen.loopback(0));
  }

  /** With an address of its own. */
  public SeedServer(
      Path dir,
      String policy,
      BiFunction<SeedServer, Pipeline, List<Surface>> surfaces,
      HttpLimits limits,
      Listen listen) {
    this.limits = limits;
    this.listen = listen;
    this.places = GatewayServer.places(limits);
    this.surfaces = surfaces;
    home = TestHome.create(dir);
    if (listen.protection() instanceof Listen.Protection.Tls) {
      home.clock.set(Instant.now()); // certificates are of now
    }
    home.tools.register(TestTools.manifest("exec", Determinism.RECORDED));
    home.tools.register(TestTools.manifest("code_interpreter", Determinism.RECORDED));
    home.tools.register(
        TestTools.manifest("nodriver", Determinism.RECORDED, "absent", TestDriver.SANDBOX));
    home.tools.register(ScriptedLanguage.manifest("words", "1.0.0"));
    home.tools.register(ScriptedLanguage.manifest("gated", "1.0.0"));
    home.drivers.add(new ScriptedLanguage(home.driver));
    home.drivers.replaceAll(running::cancellable);
    home.restart();
    home.activate(policy);
    for (String surface : List.of("engine", "execute", "logline", "tools")) {
      home.enrol(TestKeys.trusted(surface, KeyRole.SURFACE, Optional.of(TestKeys.TENANT)));
    }
    TrustedKey others =
        TestKeys.trusted("engine-other", KeyRole.SURFACE, Optional.of(TestKeys.OTHER_TENANT));
    home.enrol(
        new TrustedKey(
            others.key(),
            others.role(),
            others.tenant(),
            "engine",
            others.notBefore(),
            others.notAfter(),
            others.revokedAt()));
    start();
  }

  private void start() {
    TreeMap<String, SigningKey> keys = new TreeMap<>();
    for (String surface : List.of("engine", "execute", "logline", "tools")) {
      keys.put(KernelPipeline.keyName(surface, TestKeys.TENANT), TestKeys.key(surface));
    }
    keys.put(KernelPipeline.keyName("engine", TestKeys.OTHER_TENANT), TestKeys.key("engine-other"));
    lane =
        new Scheduler(
            () -> home.kernel().system().policyInForce(), System::nanoTime, LaneObserver.NONE);
    backend = new Backend(home.kernel(), places, running, new Changes(), lane, telemetry);
    home.kernel().observe(watch, watch);
    Pipeline pipeline = new KernelPipeline(backend, keys, new SecureRandom());
    List<Surface> made = surfaces.apply(this, pipeline);
    telemetry.named(made);
    server =
        GatewayServer.start(
            new GatewayServer.Config(
                listen,
                limits,
                made,
                List.of(tokens()),
                places,
                new Observer() {
                  @Override
                  public void begun(TraceContext trace) {
                    watch.callBegins(trace);
                  }

                  @Override
                  public void finished(Finished call) {
                    Finished seen = watch.callEnds(call).call();
                    finished.add(seen);
                    metrics.finished(seen);
                  }
                },
                (_, e) -> failures.add(e),
                home.clock,
                new SecureRandom()));
  }

  private static Tokens tokens() {
    return new Tokens(
        List.of(
            token("alice", TestKeys.TENANT),
            token("bob", TestKeys.TENANT),
            token("deputy", TestKeys.TENANT),
            token("eve", TestKeys.OTHER_TENANT),
            new Tokens.Entry(
                "narrowed-token",
                Tokens.digest("token-of-narrowed"),
                TestKeys.TENANT,
                "alice",
                List.of("worker"),
                Optional.empty())));
  }

  /** Reads the files of TLS again. */
  public void renew() {
    server.change(List.of(tokens()), new Certificates(List.of()), List.of(), server.files(listen));
  }

  private Policy policyInForce() {
    return home.kernel().system().policyInForce();
  }

  /** Stops server and kernel, and starts both: what is not in the ledger is gone. */
  public void restart() {
    server.close();
    home.restart();
    start();
  }

  /** The turns of all surfaces. */
  public Scheduler lane() {
    return lane;
  }

  /** Of the running server. */
  public Backend backend() {
    return backend;
  }

  public int port() {
    return server.port();
  }

  /** From now on nothing new is taken. */
  public void drain() {
    server.drain(Duration.ofSeconds(10));
  }

  private static Tokens.Entry token(String name, String tenant) {
    return new Tokens.Entry(
        name + "-token",
        Tokens.digest("token-of-" + name),
        tenant,
        name,
        List.of(),
        Optional.empty());
  }

  /** The lines of the log that tell of effects. */
  public List<JsonValue.Obj> executions() {
    return log.toString(StandardCharsets.UTF_8)
        .lines()
        .map(line -> (JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8)))
        .toList();
  }

  /** An answer that was read whole. */
  public record Reply(int status, byte[] body, HttpResponse<byte[]> response) {
    public JsonValue.Obj json() {
      return (JsonValue.Obj) Jcs.parse(body);
    }

    public String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    public String string(String key) {
      return json().get(key) instanceof JsonValue.Str text ? text.value() : "";
    }
  }

  public HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(server.url() + path))
        .header("Content-Type", "application/json");
  }

  public Reply send(HttpRequest.Builder request) {
    try {
      HttpResponse<byte[]> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      return new Reply(response.statusCode(), response.body(), response);
    } catch (IOException e) {
      throw new AssertionError("no answer", e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Posts as the subject of that bearer token. */
  public Reply post(String as, String path, String body) {
    return send(
        to(path)
            .header("Authorization", "Bearer token-of-" + as)
            .POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  public Reply get(String as, String path) {
    return send(to(path).header("Authorization", "Bearer token-of-" + as).GET());
  }

  /** The codes of all decisions in the log, in order; empty for an allowed one. */
  public List<String> decisionCodes() {
    return home.log().stream()
        .filter(event -> event.kind().equals("decision.made"))
        .map(event -> Decision.read(home.document(event.body()).document()))
        .map(decision -> decision.code().orElse(""))
        .toList();
  }

  /** The whole ledger audited: every decision judged again, every row held against its events. */
  public AuditReport audit() {
    try (LedgerView reader = Ledger.openReadOnly(home.ledgerConfig().dir())) {
      return Audit.check(reader, new Tools(home.tools, home.drivers), (_, _) -> {});
    }
  }

  @Override
  public void close() {
    client.close();
    server.close();
    home.close();
  }
}
