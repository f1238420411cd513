package dev.writ.cli.warm;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeMaker;
import dev.writ.embed.home.KeySource;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.GatewayInstallation;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * A whole server of its own, in a temporary directory that is removed with it: its keys are made
 * for it, lie in no file and are enrolled nowhere else, so that nothing it signs says anything of
 * the installation that is being served. It can run small scripts and nothing else.
 */
final class WarmServer implements AutoCloseable {
  private static final Home.Names NAMES = new Home.Names("warm-up", "warm-up", "nobody");
  private static final String RUN = "warm-up";
  private static final Resources RESOURCES = new Resources(1_000, 16L << 20, 1 << 12, 5_000);

  /** Key files of a home, and so the keys that must be brought for none to be written. */
  private static final List<String> KEYS =
      List.of("operator", "policy-owner", "guardian", "executor", "log", "warm-up", "nobody");

  private static final String POLICY =
      """
      writ_policy: 1
      name: warm-up
      version: 1
      limits: { request_age_max_s: 300, pending_max_s: 300, request_bytes_max: 65536 }
      principals:
        - { tenant: warm-up, subject: warm-up, roles: [warm-up] }
      roles:
        warm-up:
          tools: [js]
          sandboxes: [wasm]
          resources: { cpu_ms: 1000, memory_bytes: 16777216, output_bytes: 4096, wall_ms: 5000 }
      tools:
      {{tools}}
      budgets:
        - { name: calls, scope: subject, unit: calls, limit: 1000000, window_s: 86400 }
        - { name: cpu, scope: tenant, unit: cpu_ms, limit: 1000000000, window_s: 86400 }
      temporal:
        rates:
          - { name: burst, scope: subject, limit: 1000000, per_s: 10 }
      engine: { slots: 64, quotas: { default: { running: 64, weight: 1 } } }
      requirements:
        - effect: { tool: js }
          require: { cel: "size(params.source) <= 1000" }
      """;

  private final AtomicLong numbers = new AtomicLong();
  private final InstantSource clock;
  private final SigningKey agent;
  private final TemporaryDirectory directory;
  private final OpenHome open;
  private final Gateway gateway;

  private WarmServer(
      InstantSource clock,
      SigningKey agent,
      TemporaryDirectory directory,
      OpenHome open,
      Gateway gateway) {
    this.clock = clock;
    this.agent = agent;
    this.directory = directory;
    this.open = open;
    this.gateway = gateway;
  }

  /**
   * Makes it in a new temporary directory.
   *
   * @param atEnd gives it the time to be closed, where the process ends meanwhile
   */
  static WarmServer start(InstantSource clock, Runnable atEnd) throws IOException {
    SecureRandom random = new SecureRandom();
    Map<String, SigningKey> keys =
        KEYS.stream()
            .collect(
                Collectors.toMap(Function.identity(), _ -> SigningKey.generateEd25519(random)));
    TemporaryDirectory directory = TemporaryDirectory.create("writ-warm-up", atEnd);
    OpenHome open = null;
    try {
      Home home = new Home(directory.path().resolve("home"), () -> null, keys);
      new HomeMaker(home, NAMES, new KeySource(keys, Optional.empty()), clock, random)
          .make(policy());
      Running running = new Running();
      ProcessHost none = ProcessHost.missing(new WritException(ToolsError.PROCESSES_ABSENT, ""));
      open = OpenHome.open(home, Opening.of(clock, none).wrapping(running::cancellable));
      return new WarmServer(
          clock, keys.get(NAMES.agent()), directory, open, gateway(open, running, clock, random));
    } catch (RuntimeException e) {
      if (open != null) {
        open.close();
      }
      directory.close();
      throw e;
    }
  }

  private static String policy() {
    List<ToolManifest> js =
        BuiltinTools.all().stream().filter(tool -> tool.name().equals("js")).toList();
    return StarterPolicy.fill(POLICY, js, List.of());
  }

  private static Gateway gateway(
      OpenHome open, Running running, InstantSource clock, SecureRandom random) {
    return Gateway.start(
        GatewayConfig.minimal(0),
        new GatewayInstallation(
            open.kernel(),
            running,
            open.home().dir(),
            new TreeMap<>(),
            new RunBundle(open.packages()),
            clock,
            random,
            new PrintStream(OutputStream.nullOutputStream(), false, StandardCharsets.UTF_8)),
        _ -> List.of());
  }

  int port() {
    return gateway.port();
  }

  /** Where all of it lies. */
  Path directory() {
    return directory.path();
  }

  /** A signed request for a script that no other request has. */
  byte[] request() {
    long number = numbers.incrementAndGet();
    Request request =
        new Request(
            new Scope(NAMES.tenant(), RUN, NAMES.agent()),
            new Effect(
                "js",
                "1.0.0",
                "eval",
                JsonValue.object().put("source", "[" + number + "].map(n => n * 2)").build(),
                List.of(),
                RESOURCES,
                "wasm",
                Optional.empty()),
            List.of(),
            Optional.empty(),
            "warm-up-" + number,
            clock.instant(),
            "keep",
            JsonValue.object().build(),
            Optional.empty(),
            List.of(),
            List.of());
    return Envelope.sign(Request.TYPE, request.toJson(), agent).toBytes();
  }

  @Override
  public void close() throws IOException {
    try {
      gateway.close();
      open.close();
    } finally {
      directory.close();
    }
  }
}
