package dev.writ.gateway;

import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.Answer;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.gateway.config.GatewayConfig;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.message.CallState;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.ops.Probe;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import dev.writ.verify.bundle.BundleExport;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import javax.net.ssl.SSLContext;

/** A server as {@code writ serve} puts it together, by a configuration file, over a test's home. */
public final class WholeGateway implements AutoCloseable {
  public final TestHome home;
  public final Gateway gateway;
  private final ByteArrayOutputStream log = new ByteArrayOutputStream();
  private volatile boolean forgetful;
  private final AtomicReference<Pipeline> pipeline = new AtomicReference<>();
  private final AtomicReference<Lane> lane = new AtomicReference<>();
  private final HttpClient client;

  /**
   * @param yaml the configuration; its files are named from {@code folder}
   */
  public WholeGateway(TestHome home, String yaml, Path folder) {
    this(home, yaml, folder, List.of());
  }

  public WholeGateway(TestHome home, String yaml, Path folder, List<Probe> probes) {
    this(home, yaml, folder, installation -> installation.withProbes(probes));
  }

  public WholeGateway(
      TestHome home, String yaml, Path folder, UnaryOperator<GatewayInstallation> with) {
    this(home, yaml, folder, with, _ -> List.of());
  }

  /**
   * @param more makes further surfaces
   */
  public WholeGateway(
      TestHome home,
      String yaml,
      Path folder,
      UnaryOperator<GatewayInstallation> with,
      Function<Pipeline, List<Surface>> more) {
    this.home = home;
    Running running = new Running();
    home.drivers.replaceAll(running::cancellable);
    home.restart();
    GatewayConfig config =
        GatewayConfig.parse(yaml.getBytes(StandardCharsets.UTF_8), "gateway.yaml", Map.of())
            .inFolder(folder);
    TreeMap<String, SigningKey> keys = new TreeMap<>();
    keys.put(
        KernelPipeline.keyName(TestGateway.SURFACE, TestKeys.TENANT),
        TestKeys.key(TestGateway.SURFACE));
    gateway =
        Gateway.start(
            config,
            with.apply(
                new GatewayInstallation(
                    home.kernel(),
                    running,
                    home.dir(),
                    keys,
                    new RunBundle(BundleExport.Packages.of(home.tools)),
                    home.clock,
                    new SecureRandom(),
                    new PrintStream(kept(), true, StandardCharsets.UTF_8))),
            (made, shared) -> {
              pipeline.set(made);
              lane.set(shared);
              List<Surface> all = new ArrayList<>(more.apply(made));
              all.add(new Vouching(made));
              return all;
            });
    client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  private OutputStream kept() {
    return new OutputStream() {
      @Override
      public void write(int b) {
        write(new byte[] {(byte) b}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int from, int length) {
        if (!forgetful) {
          log.write(bytes, from, length);
        }
      }
    };
  }

  /** From now on log lines are not kept: for tests that look at memory. */
  public void forgetLog() {
    forgetful = true;
  }

  public Pipeline pipeline() {
    return pipeline.get();
  }

  /** Where a surface lets its callers wait. */
  public Lane lane() {
    return lane.get();
  }

  /** A token of a configuration: its text is {@code token-of-NAME}. */
  public static String token(String name, String subject, String more) {
    return "  - { name: NAME, digest: \"DIGEST\", tenant: TENANT, subject: SUBJECTMORE }\n"
        .replace("NAME", name)
        .replace("DIGEST", Tokens.digest("token-of-" + name).toString())
        .replace("TENANT", subject.equals("eve") ? TestKeys.OTHER_TENANT : TestKeys.TENANT)
        .replace("SUBJECT", subject)
        .replace("MORE", more.isEmpty() ? "" : ", " + more);
  }

  /** Whoever is known may have calc done with the body as params. */
  private record Vouching(Pipeline pipeline) implements Surface {
    @Override
    public String name() {
      return TestGateway.SURFACE;
    }

    @Override
    public List<Route> routes() {
      return List.of(Route.post("/test/{run}/{tool}", Route.Access.CALLER, 1000, this::effect));
    }

    private HttpAnswer effect(HttpCall call) {
      Effect effect =
          new Effect(
              call.value("tool"),
              "1.0.0",
              "do",
              (JsonValue.Obj) Jcs.parse(call.body()),
              List.of(),
              new Resources(1_000, 64 << 20, 8 << 20, 2_000),
              "box",
              Optional.empty());
      Answer answer =
          pipeline.vouch(
              new Pipeline.Vouched(
                  TestGateway.SURFACE,
                  call.caller().method(),
                  call.caller().principal(),
                  call.rawDigest(),
                  call.caller().tenant(),
                  call.value("run"),
                  call.caller().subject(),
                  effect,
                  List.of(),
                  Optional.empty(),
                  true,
                  JsonValue.object().build()));
      return HttpAnswer.text(
              answer.served().isPresent() ? 200 : 403,
              answer
                  .served()
                  .map(s -> s.id().toString())
                  .orElse(answer.decision().code().orElse("")))
          .withStates(List.of(CallState.now("FIRST"), CallState.now("SECOND")));
    }
  }

  public HttpRequest.Builder to(String path) {
    return HttpRequest.newBuilder(URI.create(gateway.url() + path))
        .header("Content-Type", "application/json");
  }

  public HttpRequest.Builder as(String token, String path) {
    return to(path).header("Authorization", "Bearer token-of-" + token);
  }

  public HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  /** With its own client, closed at once: for TLS. */
  public HttpResponse<String> send(HttpRequest.Builder request, SSLContext tls) throws Exception {
    try (HttpClient own =
        HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).sslContext(tls).build()) {
      return own.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
  }

  public HttpResponse<String> get(String token, String path) throws Exception {
    return send(as(token, path).GET());
  }

  public HttpResponse<String> post(String token, String path, String body) throws Exception {
    return send(as(token, path).POST(HttpRequest.BodyPublishers.ofString(body)));
  }

  public HttpResponse<String> post(String path, byte[] body) throws Exception {
    return send(to(path).POST(HttpRequest.BodyPublishers.ofByteArray(body)));
  }

  /** The lines of the log, each a JSON object. */
  public List<JsonValue.Obj> logged() {
    List<JsonValue.Obj> lines = new ArrayList<>();
    log.toString(StandardCharsets.UTF_8)
        .lines()
        .forEach(
            line -> lines.add((JsonValue.Obj) Jcs.parse(line.getBytes(StandardCharsets.UTF_8))));
    return lines;
  }

  @Override
  public void close() throws IOException {
    client.close();
    gateway.close();
    home.close();
  }
}
