package dev.writ.gateway;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.Route;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.auth.AccessAuthentication;
import dev.writ.gateway.http.auth.Authenticator;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.auth.SessionAuthentication;
import dev.writ.gateway.http.auth.Sessions;
import dev.writ.gateway.http.auth.Tokens;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.server.GatewayServer;
import dev.writ.gateway.pipeline.Backend;
import dev.writ.gateway.pipeline.Changes;
import dev.writ.gateway.pipeline.Credentials;
import dev.writ.gateway.pipeline.EffectObserver;
import dev.writ.gateway.pipeline.KernelPipeline;
import dev.writ.gateway.pipeline.Pipeline;
import dev.writ.gateway.pipeline.Running;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.v1.NativeApi;
import dev.writ.gateway.v1.RunBundle;
import dev.writ.gateway.v1.VouchedSurface;
import dev.writ.guardian.document.AccessDocument;
import dev.writ.verify.bundle.BundleExport;
import java.io.IOException;
import java.net.Socket;
import java.net.SocketException;
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
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;

/** A server over a {@link TestHome}, on a free loopback port. */
public final class TestGateway implements AutoCloseable {
  /** The policy of {@link TestHome} in which a surface of this name may vouch for alice. */
  public static final String SURFACE = "test";

  private static final List<String> SURFACES = List.of(SURFACE, VouchedSurface.NAME);

  public final TestHome home;
  public final Running running = new Running();
  public final Changes changes = new Changes();
  public final ConcurrencyLimiter places;
  public final KernelPipeline pipeline;
  public final List<Observer.Finished> finished = new CopyOnWriteArrayList<>();
  public final List<Throwable> failures = new CopyOnWriteArrayList<>();
  public final GatewayServer server;
  public final NativeApi nativeApi;
  public final List<Surface> surfaces;
  private HttpClient client = newClient();

  private TestGateway(
      TestHome home, HttpLimits limits, Sessions sessions, Function<Pipeline, List<Surface>> more) {
    this.home = home;
    home.drivers.clear();
    home.drivers.add(running.cancellable(home.driver));
    home.restart();
    places = GatewayServer.places(limits);
    TreeMap<String, SigningKey> keys = new TreeMap<>();
    for (String surface : SURFACES) {
      keys.put(KernelPipeline.keyName(surface, TestKeys.TENANT), TestKeys.key(surface));
    }
    Backend backend =
        new Backend(home.kernel(), places, running, changes, Lane.DIRECT, EffectObserver.NONE);
    Credentials credentials =
        (_, principal) -> principal.equals("narrow") ? List.of("worker") : List.of();
    pipeline = new KernelPipeline(backend, keys, credentials, new SecureRandom());
    surfaces = new ArrayList<>(more.apply(pipeline));
    List<Route> others = surfaces.stream().flatMap(s -> s.routes().stream()).toList();
    nativeApi =
        new NativeApi(
            backend, new RunBundle(BundleExport.Packages.of(home.tools)), 2 << 20, 8 << 20, others);
    surfaces.add(nativeApi);
    Tokens tokens = new Tokens(tokens());
    Authenticator access =
        AccessAuthentication.authenticator(() -> home.kernel().system().trust(), TestHome.ORIGIN);
    server =
        GatewayServer.start(
            new GatewayServer.Config(
                Listen.loopback(0),
                limits,
                surfaces,
                List.of(
                    tokens,
                    access,
                    new SessionAuthentication(
                        sessions, List.of(tokens, access), new Certificates(List.of()))),
                places,
                finished::add,
                (_, e) -> failures.add(e),
                home.clock,
                new SecureRandom()));
  }

  private static List<Tokens.Entry> tokens() {
    List<Tokens.Entry> entries = new ArrayList<>();
    for (String name : List.of("alice", "bob", "deputy", "rita")) {
      entries.add(token(name, TestKeys.TENANT));
    }
    entries.add(token("eve", TestKeys.OTHER_TENANT));
    entries.add(
        new Tokens.Entry(
            "narrow",
            Tokens.digest(tokenOf("narrow")),
            TestKeys.TENANT,
            "alice",
            List.of("worker"),
            Optional.empty()));
    return entries;
  }

  private static Tokens.Entry token(String name, String tenant) {
    return new Tokens.Entry(
        name + "-token", Tokens.digest(tokenOf(name)), tenant, name, List.of(), Optional.empty());
  }

  /** The bearer token of that subject; {@code narrow} is alice, as a worker alone. */
  public static String tokenOf(String name) {
    return "token-of-" + name;
  }

  public static TestGateway start(Path dir) {
    return start(dir, HttpLimits.DEFAULT, List.of());
  }

  public static TestGateway start(Path dir, HttpLimits limits, List<Surface> more) {
    return start(dir, limits, (Pipeline _) -> more);
  }

  /** With surfaces that need the pipeline. */
  public static TestGateway start(
      Path dir, HttpLimits limits, Function<Pipeline, List<Surface>> more) {
    return start(dir, limits, new Sessions(new SecureRandom(), false), more);
  }

  /** With the sessions of people who sign in over plain HTTP on this machine. */
  public static TestGateway start(
      Path dir, HttpLimits limits, Sessions sessions, Function<Pipeline, List<Surface>> more) {
    return new TestGateway(newHome(dir), limits, sessions, more);
  }

  /** A server over a home that another process left behind. */
  public static TestGateway open(Path dir) {
    return new TestGateway(
        TestHome.open(dir),
        HttpLimits.DEFAULT,
        new Sessions(new SecureRandom(), false),
        _ -> List.of());
  }

  /** A home in which a surface may vouch for alice. */
  public static TestHome newHome(Path dir) {
    String policy =
        TestPolicy.YAML.replace(
            "subject: alice, roles: [worker]",
            "subject: alice, roles: [worker], surfaces: [test, vouched]");
    TestHome home = TestHome.create(dir, policy);
    for (String surface : SURFACES) {
      home.enrol(TestKeys.trusted(surface, KeyRole.SURFACE, Optional.of(TestKeys.TENANT)));
    }
    return home;
  }

  /** Default limits, but for how many and how long. */
  public static HttpLimits limits(int concurrent, int perTenant, int perAddress, long withinMs) {
    HttpLimits d = HttpLimits.DEFAULT;
    Duration within = Duration.ofMillis(withinMs);
    return new HttpLimits(
        d.uriBytesMax(),
        d.headBytesMax(),
        d.headFieldsMax(),
        d.connectionsMax(),
        perAddress,
        concurrent,
        perTenant,
        d.concurrentPerCredentialMax(),
        d.unverifiedMax(),
        d.unverifiedPerAddressMax(),
        d.unverifiedBytesMax(),
        d.streamsMax(),
        d.memoryMax(),
        within,
        within,
        d.writeWithin(),
        d.proxies());
  }

  /** An answer that was read whole. */
  public record Reply(int status, HttpResponse<byte[]> response) {
    public JsonValue.Obj json() {
      return (JsonValue.Obj) Jcs.parse(response.body());
    }

    public String text() {
      return new String(response.body(), StandardCharsets.UTF_8);
    }

    public String string(String key) {
      return ((JsonValue.Str) json().get(key)).value();
    }

    public String header(String name) {
      return response.headers().firstValue(name).orElse("");
    }
  }

  public URI uri(String path) {
    return URI.create(server.url() + path);
  }

  public Reply send(HttpRequest.Builder request) {
    try {
      HttpResponse<byte[]> response =
          client.send(request.build(), HttpResponse.BodyHandlers.ofByteArray());
      return new Reply(response.statusCode(), response);
    } catch (IOException e) {
      throw new AssertionError("no answer", e);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  private static HttpClient newClient() {
    return HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  }

  /** What was idle may be closed by the server at the very moment that it is used again. */
  void forgetConnections() {
    client.close();
    client = newClient();
  }

  public HttpClient client() {
    return client;
  }

  /** Posts JSON without credentials: what signs itself. */
  public Reply post(String path, byte[] body) {
    return send(
        HttpRequest.newBuilder(uri(path))
            .header("Content-Type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofByteArray(body)));
  }

  public Reply submit(Envelope request) {
    return post("/v1/effects", request.toBytes());
  }

  public HttpRequest.Builder as(String name, String path) {
    return HttpRequest.newBuilder(uri(path)).header("Authorization", "Bearer " + tokenOf(name));
  }

  public Reply get(String name, String path) {
    return send(as(name, path).GET());
  }

  /** The Authorization header of a holder of a key. */
  public String access(String name) {
    String tenant = name.equals("eve") ? TestKeys.OTHER_TENANT : TestKeys.TENANT;
    return AccessDocument.header(
        Envelope.sign(
            AccessDocument.TYPE,
            new AccessDocument(
                    tenant,
                    TestHome.ORIGIN,
                    home.clock.instant(),
                    home.clock.instant().plusSeconds(60))
                .toJson(),
            TestKeys.key(name)));
  }

  /** Sends raw bytes on a connection of their own and reads until the server closes it. */
  public String raw(String bytes) {
    return raw(bytes.getBytes(StandardCharsets.ISO_8859_1));
  }

  public String raw(byte[] bytes) {
    return raw(server.port(), bytes);
  }

  /** The same to any server on this machine. */
  public static String raw(int port, byte[] bytes) {
    StringBuilder read = new StringBuilder();
    try (Socket socket = new Socket("127.0.0.1", port)) {
      socket.setSoTimeout(20_000);
      socket.getOutputStream().write(bytes);
      socket.getOutputStream().flush();
      byte[] buffer = new byte[8192];
      for (int n = socket.getInputStream().read(buffer);
          n >= 0;
          n = socket.getInputStream().read(buffer)) {
        read.append(new String(buffer, 0, n, StandardCharsets.ISO_8859_1));
      }
    } catch (SocketException e) {
      // it closed without reading what was left: what it said before that counts
    } catch (IOException e) {
      throw new AssertionError("the server does not close: " + read, e);
    }
    return read.toString();
  }

  /** The id that a document of an answer has. */
  public static Digest idOf(JsonValue envelope) {
    return Envelope.parse(Jcs.write(envelope)).id();
  }

  @Override
  public void close() {
    client.close();
    server.close();
    home.close();
  }
}
