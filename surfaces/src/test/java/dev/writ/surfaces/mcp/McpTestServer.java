package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.executor.Answer;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.auth.AccessAuthentication;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.pipeline.Backend;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.pipeline.EffectObserver;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.pipeline.ToolWork;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.verify.bundle.BundleExport;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** A server with the MCP surface over a kernel of tests, on a free loopback port. */
final class McpTestServer implements AutoCloseable {
  static final String POLICY =
      TestPolicy.YAML
          .replace(
              "subject: alice, roles: [worker]", "subject: alice, roles: [worker], surfaces: [mcp]")
          .replace("subject: bob, roles: [worker]", "subject: bob, roles: [clerk], surfaces: [mcp]")
          .replace(
              "subject: eve, roles: [worker]", "subject: eve, roles: [worker], surfaces: [mcp]")
          .replace(
              "  worker:\n",
              """
                clerk:
                  tools: [calc/text, mail]
                  resources: { cpu_ms: 500, memory_bytes: 1000000, output_bytes: 1000000, wall_ms: 500 }
                  sandboxes: [box]
                worker:
              """);

  final TestHome home;
  final List<Throwable> failures = new CopyOnWriteArrayList<>();

  /** Thrown where a call's effects are told, as no caller can bring about. */
  volatile Optional<RuntimeException> breaks = Optional.empty();

  private final BlockingQueue<Observer.Finished> finished = new LinkedBlockingQueue<>();
  final List<String> effects = new CopyOnWriteArrayList<>();

  /** Of each effect the trace of the call that it is seen as part of; empty where of none. */
  final List<String> traces = new CopyOnWriteArrayList<>();

  private final ThreadLocal<String> call = ThreadLocal.withInitial(() -> "");
  final ConcurrencyLimiter places = GatewayServer.places(HttpLimits.DEFAULT);
  private final GatewayServer server;
  private final KernelPipeline pipeline;
  private final Changes changes = new Changes();
  private final AtomicLong ids = new AtomicLong();
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

  McpTestServer(Path dir) {
    this(dir, List.of());
  }

  /**
   * @param more tools that alice may use
   */
  McpTestServer(Path dir, List<ToolManifest> more) {
    home = TestHome.create(dir);
    Running running = new Running();
    home.drivers.replaceAll(running::cancellable);
    home.restart();
    String policy = POLICY;
    for (ToolManifest tool : more) {
      home.tools.register(tool);
      policy =
          policy
              .replace("calc, mail, pay", tool.name() + ", calc, mail, pay")
              .replace(
                  "  - { effect: { tool: sim },",
                  "  - { effect: { tool: "
                      + tool.name()
                      + " }, require: { cel: 'true' } }\n  - { effect: { tool: sim },");
    }
    home.activate(policy);
    TreeMap<String, SigningKey> keys = new TreeMap<>();
    // A key speaks for one tenant, so each tenant has one of the same name.
    home.enrol(TestKeys.trusted("mcp", KeyRole.SURFACE, Optional.of(TestKeys.TENANT)));
    keys.put(KernelPipeline.keyName("mcp", TestKeys.TENANT), TestKeys.key("mcp"));
    home.enrol(
        new TrustedKey(
            TestKeys.key("mcp-other").verifyingKey(),
            KeyRole.SURFACE,
            Optional.of(TestKeys.OTHER_TENANT),
            "mcp",
            TestHome.START,
            Optional.empty(),
            Optional.empty()));
    keys.put(KernelPipeline.keyName("mcp", TestKeys.OTHER_TENANT), TestKeys.key("mcp-other"));
    Backend backend =
        new Backend(
            home.kernel(),
            places,
            running,
            changes,
            Lane.DIRECT,
            new EffectObserver() {
              @Override
              public void answered(String surface, Request request, Answer answer, ToolWork work) {
                breaks.ifPresent(e -> {
                  throw e;
                });
                effects.add(surface + " " + request.effect().tool());
                traces.add(call.get());
              }

              @Override
              public Runnable inBackground(Runnable work) {
                String trace = call.get();
                return () -> {
                  call.set(trace);
                  work.run();
                };
              }

              @Override
              public void refused(
                  String surface, Digest id, Request request, ErrorCode code, ToolWork work) {}
            });
    pipeline = new KernelPipeline(backend, keys, new SecureRandom());
    server =
        GatewayServer.start(
            new GatewayServer.Config(
                Listen.loopback(0),
                HttpLimits.DEFAULT,
                List.of(
                    new McpSurface(
                        pipeline,
                        tools(home),
                        new RunBundle(BundleExport.Packages.of(home.tools)),
                        McpSettings.DEFAULT,
                        true,
                        "0.1.0",
                        new SecureRandom())),
                List.of(
                    new Tokens(tokens()),
                    AccessAuthentication.authenticator(
                        () -> home.kernel().system().trust(), TestHome.ORIGIN)),
                places,
                new Observer() {
                  @Override
                  public void begun(TraceContext trace) {
                    call.set(trace.traceId());
                  }

                  @Override
                  public void finished(Finished seen) {
                    finished.add(seen);
                  }
                },
                (_, e) -> failures.add(e),
                home.clock,
                new SecureRandom()));
  }

  /** The tools of a test's home. */
  static McpTools tools(TestHome home) {
    return new McpTools() {
      @Override
      public Optional<ToolManifest> manifest(ToolRef tool) {
        return home.tools.manifest(tool.name(), tool.version()).filter(m -> m.ref().equals(tool));
      }

      @Override
      public Determinism granted(ToolManifest manifest) {
        return home.driver.determinism().weaker(manifest.determinism());
      }
    };
  }

  private static List<Tokens.Entry> tokens() {
    List<Tokens.Entry> entries = new ArrayList<>();
    for (String name : List.of("alice", "bob")) {
      entries.add(token(name, name, TestKeys.TENANT, List.of()));
    }
    entries.add(token("second", "alice", TestKeys.TENANT, List.of()));
    entries.add(token("narrow", "alice", TestKeys.TENANT, List.of("clerk")));
    entries.add(token("eve", "eve", TestKeys.OTHER_TENANT, List.of()));
    return entries;
  }

  private static Tokens.Entry token(
      String name, String subject, String tenant, List<String> roles) {
    return new Tokens.Entry(
        name + "-token", Tokens.digest(tokenOf(name)), tenant, subject, roles, Optional.empty());
  }

  static String tokenOf(String name) {
    return "token-of-" + name;
  }

  /** As the server closes a run that is idle. */
  void closeRun(String tenant, String run) {
    pipeline.closeRun("mcp", tenant, run);
  }

  /** As /v1/policies activates one. */
  void activate(String policy) {
    home.activate(policy);
    changes.systemChanged();
  }

  String url() {
    return server.url();
  }

  int port() {
    return server.port();
  }

  /** An answer that was read whole. */
  record Reply(int status, byte[] body, HttpResponse<byte[]> response) {
    JsonValue.Obj json() {
      return (JsonValue.Obj) Jcs.parse(body);
    }

    JsonValue.Obj result() {
      return (JsonValue.Obj) json().get("result");
    }

    String text() {
      return new String(body, StandardCharsets.UTF_8);
    }

    String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }

    /** The code of a JSON-RPC error; 0 where it is none. */
    long error() {
      return json().get("error") instanceof JsonValue.Obj error
          ? (long) ((JsonValue.Num) error.get("code")).value()
          : 0;
    }

    String meta(String key) {
      JsonValue value = ((JsonValue.Obj) result().get("_meta")).get("dev.writ/" + key);
      return value instanceof JsonValue.Str text ? text.value() : String.valueOf(value);
    }

    boolean isError() {
      return JsonValue.TRUE.equals(result().get("isError"));
    }

    /** The texts of a tool's result. */
    String said() {
      StringBuilder all = new StringBuilder();
      for (JsonValue item : ((JsonValue.Arr) result().get("content")).items()) {
        all.append(((JsonValue.Str) ((JsonValue.Obj) item).get("text")).value()).append('\n');
      }
      return all.toString();
    }
  }

  HttpRequest.Builder as(String token) {
    return HttpRequest.newBuilder(URI.create(server.url() + "/mcp"))
        .header("Authorization", "Bearer " + tokenOf(token))
        .header("Accept", "application/json, text/event-stream");
  }

  Reply send(HttpRequest.Builder request) {
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

  static HttpRequest.Builder json(HttpRequest.Builder request, byte[] body) {
    return request
        .header("Content-Type", "application/json")
        .POST(HttpRequest.BodyPublishers.ofByteArray(body));
  }

  static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  static final String INITIALIZE =
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"
          + "\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}";

  /** A session of its own, initialized. */
  Client client(String token) {
    return client(token, "2025-11-25");
  }

  /** The same in another version of the protocol. */
  Client client(String token, String version) {
    Reply reply = send(json(as(token), bytes(INITIALIZE.replace("2025-11-25", version))));
    return new Client(token, version, reply.header("Mcp-Session-Id"), reply);
  }

  /** Whoever has a token and a session. */
  final class Client {
    final String token;
    final String version;
    final String session;
    final Reply initialized;

    Client(String token, String session, Reply initialized) {
      this(token, "2025-11-25", session, initialized);
    }

    Client(String token, String version, String session, Reply initialized) {
      this.version = version;
      this.token = token;
      this.session = session;
      this.initialized = initialized;
    }

    HttpRequest.Builder request() {
      return as(token).header("Mcp-Session-Id", session).header("MCP-Protocol-Version", version);
    }

    Reply post(String message) {
      return send(json(request(), bytes(message)));
    }

    Reply ask(String method, String params) {
      return post(
          "{\"jsonrpc\":\"2.0\",\"id\":"
              + ids.incrementAndGet()
              + ",\"method\":\""
              + method
              + "\",\"params\":"
              + params
              + "}");
    }

    Reply call(String tool, String arguments) {
      return ask("tools/call", "{\"name\":\"" + tool + "\",\"arguments\":" + arguments + "}");
    }

    Reply read(String uri) {
      return ask("resources/read", "{\"uri\":\"" + uri + "\"}");
    }

    String run() {
      return "mcp-" + session;
    }
  }

  /** How often whoever waits was woken. */
  long wakings() {
    return changes.count();
  }

  /** Whether everything at work ended; nothing new is taken from then on. */
  boolean drained() {
    return server.drain(Duration.ofSeconds(30));
  }

  @Override
  public void close() {
    client.close();
    server.close();
    home.close();
  }

  /** What the server is told of the call of a request, which may be after its answer arrived. */
  Observer.Finished finished(String request) {
    try {
      while (true) {
        Observer.Finished call = finished.poll(30, TimeUnit.SECONDS);
        if (call == null) {
          throw new AssertionError("nothing was told of " + request);
        }
        if (call.request().filter(request::equals).isPresent()) {
          return call;
        }
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new AssertionError(e);
    }
  }
}
