package dev.writ.cli.command.serve;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.TemporaryDirectory;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Homes;
import dev.writ.cli.base.Session;
import dev.writ.cli.command.key.KeyCommand;
import dev.writ.cli.demo.DemoPlaces;
import dev.writ.cli.demo.Example;
import dev.writ.cli.demo.PlayedExample;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.embed.error.EmbedError;
import dev.writ.embed.home.Asking;
import dev.writ.embed.home.Home;
import dev.writ.embed.home.HomeMaker;
import dev.writ.embed.home.KeySource;
import dev.writ.embed.home.OpenHome;
import dev.writ.embed.home.Opening;
import dev.writ.embed.home.SandboxPlace;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.executor.journal.EventKind;
import dev.writ.gateway.Gateway;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.config.SurfaceConfig;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.surfaces.logline.LoglineSurface;
import dev.writ.surfaces.seed.SeedSurfaces;
import dev.writ.tools.process.ProcessHost;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;

/** A temporary server: everything real, on a free loopback port, removed when it stops. */
final class ServeDemo {
  private static final Home.Names NAMES = new Home.Names("acme", "agent", "reviewer");

  private final Session session;
  private final SecureRandom random = new SecureRandom();
  private final CountDownLatch stopped = new CountDownLatch(1);
  private volatile boolean serves;

  ServeDemo(Session session) {
    this.session = session;
  }

  ExitCode run(int port) {
    TemporaryDirectory temporary = temporary();
    Path dir = temporary.path();
    Home home = new Home(dir.resolve("writ-data"), () -> null);
    DemoPlaces places = DemoPlaces.start(dir);
    ProcessHost processes = processes(home, dir, places);
    boolean confined = confines(processes);
    DemoSurfaces surfaces = new DemoSurfaces(dir, confined, places);
    DemoPackage tool = DemoPackage.make(dir.resolve(DemoPackage.TOOL), confined);
    new HomeMaker(home, NAMES, KeySource.made(Optional.empty()), Homes.clock(), random)
        .make(policy(surfaces, tool, places));
    Running running = new Running();
    OpenHome open =
        OpenHome.open(home, Opening.of(Homes.clock(), processes).wrapping(running::cancellable));
    tool.register(open, random);
    String token = Tokens.generate(random);
    GatewayConfig config = config(port, token, surfaces.config(random));
    // Ignores the caller's environment: none of its secrets, no workspace.
    Sessions sessions = ServeCommand.sessions(config);
    ServedOperations operations = ServeCommand.operations(open, config);
    Gateway gateway =
        ServedGateway.start(
            open,
            ServedGateway.of(session, open, running, enrolSurfaces(open)).with(sessions),
            config,
            ServedSurfaces.of(session, open, config, sessions, operations, Map.of(), dir));
    operations.serves(gateway);
    List<Example> examples = examples(open, gateway, dir, token);
    examples.addAll(
        2,
        surfaces.examples(
            gateway.url(),
            token,
            open.kernel().now(),
            tool.request(NAMES.tenant(), open.kernel().system().policyInForce().name())));
    session.show(
        new ServeCommand.Listening(gateway.url(), home.dir(), examples, token), ServeDemo::print);
    serves = true;
    ServerEnd.stopWhenAsked(
        session,
        gateway,
        () -> {},
        open,
        () -> {
          places.close();
          stopped.countDown();
        });
    examples.forEach(this::play);
    return ServerEnd.serveUntilStopped(gateway);
  }

  /** Sandboxes lie in the demo's own directory and are removed with it. */
  private ProcessHost processes(Home home, Path dir, DemoPlaces places) {
    TreeMap<String, String> environment = new TreeMap<>(session.environment());
    environment.put("WRIT_SANDBOX_DIR", dir.resolve("sandbox").toString());
    environment.put(SeedSurfaces.WORKSPACE_ROOT, DemoSurfaces.makeWorkspaces(dir).toString());
    environment.put("WRIT_EGRESS_CA", places.authority().toString());
    try {
      if (dir.getFileSystem().supportedFileAttributeViews().contains("posix")) {
        Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwx--x--x"));
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, dir.toString(), e);
    }
    return SandboxPlace.host(home, environment);
  }

  /** Whether this host can confine commands; if not, the demo echoes in JavaScript. */
  private static boolean confines(ProcessHost processes) {
    try {
      processes.engine();
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  /**
   * The starter policy, with surfaces that may vouch, requests that stay fresh for a day, the
   * tenant of seed 001's example, and the demo's own places for the tools of analysts.
   */
  private static String policy(DemoSurfaces surfaces, DemoPackage tool, DemoPlaces places) {
    List<ToolManifest> approved = new ArrayList<>(BuiltinTools.manifests());
    approved.add(tool.manifest());
    return StarterPolicy.text(NAMES, approved)
            .replace("web_browser, word-count]", "web_browser, word-count, word-stats]")
            .replace(
                "requirements:\n",
                "requirements:\n  - effect: { tool: word-stats }\n"
                    + "    require: { cel: 'size(params.text) < 10000' }\n")
            .replace("request_age_max_s: 300 ", "request_age_max_s: 86400 ")
            .replace(
                "roles: [analyst], surfaces: [mcp] }",
                "roles: [analyst, developer], surfaces: ["
                    + String.join(", ", DemoSurfaces.NAMES)
                    + "] }")
            .replace(
                "\napprovers:\n",
                "  - { tenant: "
                    + DemoSurfaces.SEEDS_TENANT
                    + ", subject: "
                    + NAMES.agent()
                    + ", roles: [analyst], surfaces: [logline] }\n\napprovers:\n")
            .replace(
                "    network: [] ",
                "    network: [\"" + String.join("\", \"", places.network()) + "\"] ")
            .replace(
                "  analyst:\n",
                """
                  developer:
                    tools: [exec, js]
                    sandboxes: [restricted, wasm]
                    resources: { cpu_ms: 1200000, memory_bytes: 4294967296, output_bytes: 1048576, wall_ms: 600000 }
                    paths: [.]
                    environment: [LANG, PYTHONUNBUFFERED]
                  analyst:
                """)
        + surfaces.policy();
  }

  private static GatewayConfig config(
      int port, String token, SortedMap<String, SurfaceConfig> surfaces) {
    return new GatewayConfig(
        Listen.loopback(port),
        HttpLimits.DEFAULT,
        List.of(
            new Tokens.Entry(
                "demo",
                Tokens.digest(token),
                NAMES.tenant(),
                NAMES.agent(),
                List.of(),
                Optional.empty())),
        surfaces,
        Duration.ofSeconds(10),
        64L << 20);
  }

  private SortedMap<String, SigningKey> enrolSurfaces(OpenHome open) {
    TreeMap<String, SigningKey> keys = new TreeMap<>();
    DemoSurfaces.NAMES.forEach(surface -> enrolSurface(open, keys, surface, NAMES.tenant()));
    enrolSurface(open, keys, LoglineSurface.NAME, DemoSurfaces.SEEDS_TENANT);
    return keys;
  }

  private void enrolSurface(
      OpenHome open, SortedMap<String, SigningKey> keys, String surface, String tenant) {
    SigningKey key = SigningKey.generateEd25519(random);
    enrol(open, key, KeyRole.SURFACE, Optional.of(tenant), surface);
    keys.put(KernelPipeline.keyName(surface, tenant), key);
  }

  /** Enrols a key by a change that the demo's operator signs. */
  static void enrol(
      OpenHome open, SigningKey key, KeyRole role, Optional<String> tenant, String subject) {
    TrustedKey trusted =
        new TrustedKey(
            key.verifyingKey(),
            role,
            tenant,
            subject,
            open.kernel().now(),
            Optional.empty(),
            Optional.empty());
    KeyCommand.change(
        open,
        KeyCommand.signed(
            open.home().key("operator"),
            EventKind.KEY_ENROLLED,
            trusted.toJson(),
            open.kernel().now()));
  }

  private List<Example> examples(OpenHome open, Gateway gateway, Path dir, String token) {
    ToolManifest js =
        BuiltinTools.manifests().stream()
            .filter(m -> m.name().equals("js"))
            .findFirst()
            .orElseThrow();
    String post =
        "curl -sS " + gateway.url() + "/v1/effects -H 'Content-Type: application/json' -d @";
    String get = "curl -sS -H 'Authorization: Bearer " + token + "' " + gateway.url();
    List<Example> examples = new ArrayList<>();
    examples.add(
        Example.played(
            "native API: an effect that the agent has signed",
            post + signed(open, js, dir.resolve("allowed.json"), "6 * 7")));
    examples.add(
        Example.played(
            "the same with a longer program than policy allows",
            post + signed(open, js, dir.resolve("denied.json"), "6 * 7" + " ".repeat(20_000))));
    examples.add(Example.played("the run, as its agent sees it", get + "/v1/runs/demo"));
    examples.add(
        Example.shown(
            "its events as they happen",
            "curl -sSN -H 'Accept: text/event-stream' -H 'Authorization: Bearer "
                + token
                + "' "
                + gateway.url()
                + "/v1/runs/demo/events"));
    examples.add(
        Example.shown("its bundle, for `writ verify`", get + "/v1/runs/demo/bundle -o demo.writ"));
    examples.add(Example.shown("metrics", "curl -sS " + gateway.url() + "/metrics"));
    return examples;
  }

  private Path signed(OpenHome open, ToolManifest js, Path file, String source) {
    Effect effect =
        new Effect(
            js.name(),
            js.version(),
            js.operations().getFirst().name(),
            JsonValue.object().put("source", source).build(),
            List.of(),
            new Resources(2000, 64 << 20, 1 << 20, 5000),
            "wasm",
            Optional.empty());
    Envelope request =
        new Asking(open.kernel(), random)
            .request(
                open.home().key(NAMES.agent()), "demo", effect, Optional.empty(), List.of(), true);
    try {
      return Files.write(file, request.toBytes());
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, file.toString(), e);
    }
  }

  private static void print(ServeCommand.Listening listening, Terminal terminal) {
    var out = terminal.out();
    out.println("Writ listens on " + listening.url() + ", over a throw-away data directory.");
    out.println("token: " + listening.token());
    out.println("Ctrl-C ends it and removes " + listening.home());
    out.flush();
  }

  /** Prints a command and, where the demo runs it itself, what it answers. */
  private void play(Example example) {
    if (example.played()) {
      session.show(PlayedExample.of(example), ServeDemo::print);
    } else if (!session.json()) {
      print(new PlayedExample(example, List.of()), session.terminal());
    }
    session.terminal().out().flush();
  }

  private static void print(PlayedExample played, Terminal terminal) {
    var out = terminal.out();
    out.println();
    out.println(terminal.paint(Style.DIM, "# " + played.example().what()));
    out.println(played.example().command());
    played.lines().forEach(out::println);
  }

  /** Removed when the process ends, once the server has stopped if it serves by then. */
  private TemporaryDirectory temporary() {
    try {
      return TemporaryDirectory.create("writ-serve-demo-", this::awaitStop);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, "a temporary directory", e);
    }
  }

  private void awaitStop() {
    try {
      if (serves) {
        stopped.await();
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
