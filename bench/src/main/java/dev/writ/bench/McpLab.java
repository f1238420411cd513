package dev.writ.bench;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.executor.KernelConfig;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.executor.driver.RunWorkspaces;
import dev.writ.executor.stage.Tools;
import dev.writ.fixture.TestKernel;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestParty;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.Policy;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.sandbox.SandboxSettings;
import dev.writ.sandbox.host.Trees;
import dev.writ.surfaces.mcp.McpSettings;
import dev.writ.surfaces.mcp.McpSurface;
import dev.writ.surfaces.mcp.McpTools;
import dev.writ.tools.mcp.ListedTool;
import dev.writ.tools.mcp.McpDriver;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.verify.bundle.BundleExport;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * An installation with one MCP server behind it, which echoes: the registry on the disk, the
 * sandbox of this host, a kernel, and a gateway with the surface {@code mcp}.
 */
final class McpLab implements AutoCloseable {
  static final String PYTHON = "/usr/bin/python3";
  static final String TEXT = "one two three";
  static final String CALL = "{\"name\":\"echo\",\"arguments\":{\"text\":\"" + TEXT + "\"}}";
  static final String INITIALIZE =
      "{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"
          + "\"clientInfo\":{\"name\":\"bench\",\"version\":\"1\"}}";

  private static final String TENANT = "acme";
  private static final String AGENT = "agent";
  private static final String TOOL = "echo";
  private static final InstantSource CLOCK = InstantSource.system();
  private static final Resources RESOURCES = new Resources(10_000, 256L << 20, 1 << 16, 60_000);

  private static final String POLICY =
      """
      writ_policy: 1
      name: bench
      version: 1
      limits: { request_age_max_s: 3600, pending_max_s: 3600, request_bytes_max: 100000 }
      principals:
        - { tenant: acme, subject: agent, roles: [worker], surfaces: [mcp] }
      roles:
        worker:
          tools: [echo]
          sandboxes: [default]
          resources: { cpu_ms: 10000, memory_bytes: 268435456, output_bytes: 65536, wall_ms: 60000 }
      tools:
        - { name: echo, version: "1", package: "PACKAGE", stage: active }
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 1000000000, window_s: 86400 }
      engine: { slots: 64, quotas: { default: { running: 64, weight: 1 } } }
      requirements:
        - effect: { tool: echo }
          require: { cel: "tenant == 'acme'" }
      """;

  private final SecureRandom random = new SecureRandom();
  private final AtomicLong numbers = new AtomicLong();
  private final Path place;
  private final ProcessHost host;
  private final McpDriver driver;
  private final UpstreamPackage upstream;
  private final Ledger ledger;
  private final Kernel kernel;
  private final Gateway gateway;
  private final String token = Tokens.generate(random);

  /**
   * @param home for the ledger: its disk is measured
   */
  McpLab(Path home) throws IOException {
    place = TemporaryDirectory.in(Path.of("/tmp"), "wmb").path();
    Files.setPosixFilePermissions(place, PosixFilePermissions.fromString("rwx--x--x"));
    host = ProcessHost.open(SandboxSettings.in(place.resolve("s")), SecretStore.none());
    driver = new McpDriver(host);
    upstream = upstream();
    Files.write(script(), upstream.own().get("echo.py"));
    ToolRegistry registry = ToolRegistry.open(place.resolve("tools"));
    registry.register(upstream.manifest(), upstream.files());
    Installed installed = new Installed(registry);
    ledger =
        Ledger.create(
            new LedgerConfig(
                home.resolve("mcp-ledger"),
                home.resolve("mcp-anchor"),
                "bench",
                TestKeys.key("log"),
                CLOCK));
    Running running = new Running();
    TestKernel parts =
        new TestKernel(
            installed,
            List.of(running.cancellable(driver)),
            RunWorkspaces.NONE,
            Optional.empty(),
            KernelConfig.SUMMARIZED_EVERY,
            CLOCK,
            System::nanoTime,
            random);
    List<TestParty> signers =
        List.of(
            new TestParty("operator", KeyRole.OPERATOR, Optional.empty()),
            new TestParty("owner", KeyRole.POLICY_OWNER, Optional.empty()),
            new TestParty("guardian", KeyRole.GUARDIAN, Optional.empty()),
            new TestParty("executor", KeyRole.EXECUTOR, Optional.empty()),
            new TestParty("log", KeyRole.LOG, Optional.empty()),
            new TestParty(McpSurface.NAME, KeyRole.SURFACE, Optional.of(TENANT)),
            new TestParty(AGENT, KeyRole.AGENT, Optional.of(TENANT)));
    String policy = POLICY.replace("PACKAGE", upstream.manifest().packageDigest().toString());
    parts.found(
        ledger,
        signers.stream().map(Lab::trusted).toList(),
        Policy.parse(policy.getBytes(StandardCharsets.UTF_8), "bench.yaml").toJson());
    kernel = parts.open(ledger);
    gateway = gateway(installed, running, home);
  }

  private static UpstreamPackage upstream() throws IOException {
    TreeMap<String, byte[]> own = new TreeMap<>();
    try (InputStream in = McpLab.class.getResourceAsStream("echo.py")) {
      own.put("echo.py", in.readAllBytes());
    }
    ServerSpec spec =
        new ServerSpec(
            List.of(PYTHON, "/tool/echo.py"),
            new TreeMap<>(),
            new TreeMap<>(),
            List.of(),
            List.of(),
            ServerSpec.START_MS);
    JsonValue.Obj tool =
        object(
            "{\"name\":\"echo\",\"description\":\"Gives back its text.\",\"inputSchema\":"
                + "{\"type\":\"object\",\"properties\":{\"text\":{\"type\":\"string\"}},"
                + "\"required\":[\"text\"]}}");
    return UpstreamPackage.of(TOOL, "1", spec, PinnedTools.of(List.of(tool)), own);
  }

  private static JsonValue.Obj object(String json) {
    return (JsonValue.Obj) Jcs.parse(json.getBytes(StandardCharsets.UTF_8));
  }

  private Gateway gateway(Installed installed, Running running, Path home) {
    RunBundle bundles = new RunBundle(BundleExport.Packages.of(installed));
    TreeMap<String, SigningKey> keys = new TreeMap<>();
    keys.put(KernelPipeline.keyName(McpSurface.NAME, TENANT), TestKeys.key(McpSurface.NAME));
    return Gateway.start(
        GatewayConfig.minimal(0)
            .withToken(
                new Tokens.Entry(
                    "bench", Tokens.digest(token), TENANT, AGENT, List.of(), Optional.empty())),
        new GatewayInstallation(
            kernel,
            running,
            home,
            keys,
            bundles,
            CLOCK,
            random,
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)),
        pipeline ->
            List.of(
                new McpSurface(
                    pipeline,
                    new Shown(installed, upstream),
                    bundles,
                    McpSettings.DEFAULT,
                    true,
                    "0.1.0",
                    random)));
  }

  /** The registry of an installation, looked at anew for each call. */
  private record Installed(ToolRegistry registry) implements Tools.Registry {
    @Override
    public Optional<ToolManifest> manifest(String name, String version) {
      return Optional.of(registry.resolve(name, version).manifest());
    }

    @Override
    public Driver.PackageContent content(ToolManifest manifest) {
      return registry
          .resolve(manifest.name(), manifest.version(), manifest.packageDigest())
          .content();
    }
  }

  private record Shown(Installed installed, UpstreamPackage upstream) implements McpTools {
    @Override
    public Optional<ToolManifest> manifest(ToolRef tool) {
      return installed.manifest(tool.name(), tool.version());
    }

    @Override
    public Determinism granted(ToolManifest manifest) {
      return Determinism.RECORDED;
    }

    @Override
    public Optional<JsonValue.Obj> listed(ToolManifest manifest, ToolManifest.Operation operation) {
      return upstream.tools().tool(operation.name()).map(ListedTool::toJson);
    }

    @Override
    public Optional<Offered> offered(ToolManifest manifest) {
      return Optional.of(new Offered(List.of(), upstream.tools().offers().toJson()));
    }
  }

  /** A request of JSON-RPC. */
  static String request(long id, String method, String params) {
    return "{\"jsonrpc\":\"2.0\",\"id\":"
        + id
        + ",\"method\":\""
        + method
        + "\",\"params\":"
        + params
        + "}";
  }

  /** The server's program, for who starts it bare. */
  Path script() {
    return place.resolve("echo.py");
  }

  /** A client of the server's view, in a session and so a run of its own. */
  HttpCaller client() {
    HttpCaller caller =
        new HttpCaller(
            gateway.port(),
            McpSurface.PATH + "/" + TOOL,
            "Authorization: Bearer "
                + token
                + "\r\nAccept: application/json, text/event-stream\r\n"
                + McpSurface.VERSION
                + ": 2025-11-25\r\n");
    caller.post(request(0, "initialize", INITIALIZE).getBytes(StandardCharsets.UTF_8));
    return caller.inSession();
  }

  /** A signed request for a call in a run. */
  byte[] request(String run) {
    long number = numbers.incrementAndGet();
    Request request =
        new Request(
            new Scope(TENANT, run, AGENT),
            new Effect(
                TOOL, "1", "echo", params(), List.of(), RESOURCES, "default", Optional.empty()),
            List.of(),
            Optional.empty(),
            "nonce-" + number,
            CLOCK.instant(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), TestKeys.key(AGENT)).toBytes();
  }

  private static JsonValue.Obj params() {
    return JsonValue.object().put("text", TEXT).build();
  }

  /** A call through the kernel alone. */
  Answer submit(byte[] request) {
    Answer answer = kernel.submit(request, List.of());
    if (answer.served().filter(s -> s.receipt().status() == Status.SUCCEEDED).isEmpty()) {
      throw new IllegalStateException("not done: " + answer.decision().code() + answer.served());
    }
    return answer;
  }

  /** A server started in the sandbox, and its first answer, by a driver of its own. */
  McpDriver first() {
    McpDriver own = new McpDriver(host);
    DriverOutcome outcome =
        own.prepare(upstream.manifest(), "echo", file -> upstream.files().get(file.path()).clone())
            .run(
                new Invocation(
                    new Scope(TENANT, "first", AGENT),
                    params(),
                    List.of(),
                    input -> new ByteArrayInputStream(new byte[0]),
                    new byte[32],
                    Instant.EPOCH,
                    RESOURCES,
                    "default",
                    Optional.empty(),
                    false));
    if (outcome.end() != DriverOutcome.End.SUCCEEDED) {
      throw new IllegalStateException("a measured call ended by " + outcome.reason());
    }
    return own;
  }

  @Override
  public void close() {
    gateway.close();
    driver.close();
    ledger.close();
    host.close();
    Trees.remove(place);
  }
}
