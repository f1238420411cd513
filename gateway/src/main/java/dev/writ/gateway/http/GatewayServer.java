package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.file.FileSystemOptions;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.ServerSSLOptions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/** The HTTP server: HTTP/1.1 on a few event loops, handlers on virtual threads. */
public final class GatewayServer implements AutoCloseable {
  /** Connections that were chosen to make room and are not closed yet. */
  private static final int CLOSING_MAX = 32;

  private static final Duration START_WITHIN = Duration.ofSeconds(30);

  private final Listen listen;
  private final ServerParts parts;
  private final Connections connections;
  private final Vertx vertx;
  private final Ingress ingress;
  private final List<Surface> surfaces;
  private final List<String> besides = new ArrayList<>();
  private final AtomicInteger port = new AtomicInteger();
  private final ConcurrentLinkedQueue<HttpServer> servers = new ConcurrentLinkedQueue<>();

  private GatewayServer(Listen listen, ServerParts parts, List<Surface> surfaces) {
    this.listen = listen;
    this.surfaces = List.copyOf(surfaces);
    this.parts = parts;
    this.connections = new Connections(parts.limits());
    BoundedTransport sockets = new BoundedTransport(parts.limits().connectionsMax() + CLOSING_MAX);
    this.vertx =
        Vertx.builder()
            .withTransport(new GuardedTransport(sockets, connections))
            .with(
                new VertxOptions()
                    .setEventLoopPoolSize(loops())
                    .setWorkerPoolSize(1)
                    .setInternalBlockingPoolSize(1)
                    .setFileSystemOptions(
                        new FileSystemOptions()
                            .setFileCachingEnabled(false)
                            .setClassPathResolvingEnabled(false)))
            .build();
    this.ingress = new Ingress(listen, parts, connections, sockets);
  }

  /**
   * @param hosts further names by which the server may be called
   * @param origins of web pages that may call the server from a browser
   * @param certificates the certificates of known clients
   * @param failures gets unexpected exceptions with the call's trace; clients see nothing of them
   * @param clock for the times of calls and the Date header
   */
  public record Config(
      Listen listen,
      HttpLimits limits,
      List<Surface> surfaces,
      List<Authenticator> authenticators,
      Certificates certificates,
      List<String> hosts,
      List<String> origins,
      ConcurrencyLimiter places,
      Observer observer,
      BiConsumer<TraceContext, Throwable> failures,
      InstantSource clock,
      SecureRandom random) {

    /** For a server without client certificates and without web pages of other origins. */
    public Config(
        Listen listen,
        HttpLimits limits,
        List<Surface> surfaces,
        List<Authenticator> authenticators,
        ConcurrencyLimiter places,
        Observer observer,
        BiConsumer<TraceContext, Throwable> failures,
        InstantSource clock,
        SecureRandom random) {
      this(
          listen,
          limits,
          surfaces,
          authenticators,
          new Certificates(List.of()),
          List.of(),
          List.of(),
          places,
          observer,
          failures,
          clock,
          random);
    }
  }

  /** The limiter of a server with these limits. */
  public static ConcurrencyLimiter places(HttpLimits limits) {
    return new ConcurrencyLimiter(limits);
  }

  /**
   * Starts it.
   *
   * @throws WritException {@code GWY-004}, {@code GWY-007}
   */
  public static GatewayServer start(Config config) {
    ServerParts parts =
        new ServerParts(
            config.limits(),
            new Router(config.surfaces()),
            Hosts.of(config.listen(), config.hosts()),
            new AtomicReference<>(
                IngressPolicy.of(
                    config.authenticators(), config.certificates(), new Origins(config.origins()))),
            config.places(),
            config.observer(),
            config.failures(),
            config.clock(),
            config.random());
    GatewayServer server = new GatewayServer(config.listen(), parts, config.surfaces());
    try {
      server.deploy();
      for (Surface surface : server.surfaces) {
        surface.listen(server.ingress).ifPresent(server.besides::add);
      }
      return server;
    } catch (RuntimeException e) {
      server.surfaces.forEach(Surface::close);
      server.vertx.close();
      throw e;
    }
  }

  private static int loops() {
    return Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);
  }

  private void deploy() {
    Optional<TlsFiles> files = files(listen);
    files.ifPresent(f -> {
      parts.doors().updateAndGet(doors -> doors.with(f));
      ingress.use(f.keyManager(vertx));
    });
    DeploymentOptions options = new DeploymentOptions().setInstances(loops());
    try {
      await(vertx.deployVerticle(() -> new Loop(files), options));
    } catch (ExecutionException e) {
      throw new WritException(
          GatewayError.LISTEN_FAILED,
          listen.host() + ":" + listen.port() + ": " + e.getCause().getMessage(),
          e.getCause());
    }
  }

  /** The part of the server on one event loop; all listen on one port. */
  private final class Loop extends VerticleBase {
    private final Optional<TlsFiles> files;

    Loop(Optional<TlsFiles> files) {
      this.files = files;
    }

    @Override
    public Future<?> start() {
      HttpServerOptions options = files.map(f -> with(f, options())).orElseGet(() -> options());
      HttpServer server = vertx.createHttpServer(options);
      servers.add(server);
      server.connectionHandler(connection ->
          connections.opened(
              connection,
              vertx,
              why -> InvalidRequest.refused(parts, why, Connections.address(connection))));
      server.invalidRequestHandler(request -> new InvalidRequest(parts, request).answer());
      server.requestHandler(this::handle);
      server.exceptionHandler(_ -> {}); // broken connections: nobody to answer
      return server.listen().onSuccess(s -> port.set(s.actualPort()));
    }

    private void handle(HttpServerRequest request) {
      new Exchange(parts, vertx, request, connections.watch(request.connection(), vertx)).begin();
    }
  }

  private HttpServerOptions options() {
    return new HttpServerOptions()
        .setHost(listen.host())
        .setPort(listen.port())
        .setMaxInitialLineLength(parts.limits().uriBytesMax())
        .setMaxHeaderSize(parts.limits().headBytesMax())
        .setSslHandshakeTimeout(parts.limits().headWithin().toMillis())
        .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
        .setHttp2ClearTextEnabled(false)
        .setUseAlpn(false)
        .setAlpnVersions(List.of(HttpVersion.HTTP_1_1))
        .setDecompressionSupported(false)
        .setCompressionSupported(false)
        .setHandle100ContinueAutomatically(false);
  }

  private static HttpServerOptions with(TlsFiles files, HttpServerOptions options) {
    ServerSSLOptions tls = files.options();
    return options
        .setSsl(true)
        .setKeyCertOptions(tls.getKeyCertOptions())
        .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols())
        .setClientAuth(tls.getClientAuth())
        .setTrustOptions(tls.getTrustOptions());
  }

  /**
   * Reads the files of TLS, where it is spoken.
   *
   * @throws WritException {@code GWY-007}
   */
  public Optional<TlsFiles> files(Listen asked) {
    return asked.protection() instanceof Listen.Protection.Tls tls
        ? Optional.of(TlsFiles.read(tls, vertx, parts.clock().instant()))
        : Optional.empty();
  }

  /**
   * Changes who may call, and the TLS files for new connections. Calls at work go on; the client
   * certificate of an open connection is verified again at its next call.
   *
   * @param files the TLS files that were read for the current listener
   * @throws WritException {@code GWY-007}; nothing has changed then
   */
  public synchronized void change(
      List<Authenticator> authenticators,
      Certificates certificates,
      List<String> origins,
      Optional<TlsFiles> files) {
    IngressPolicy open = IngressPolicy.of(authenticators, certificates, new Origins(origins));
    IngressPolicy before = parts.doors().getAndSet(files.map(open::with).orElse(open));
    if (files.isPresent()) {
      try {
        for (HttpServer server : servers) {
          await(server.updateSSLOptions(files.get().options(), true));
        }
        ingress.use(files.get().keyManager(vertx));
      } catch (ExecutionException e) {
        parts.doors().set(before);
        throw new WritException(
            GatewayError.TLS_UNUSABLE, e.getCause().getClass().getSimpleName(), e.getCause());
      }
    }
  }

  /** The port it listens on. */
  public int port() {
    return port.get();
  }

  /** Where it listens. */
  public String url() {
    String scheme = listen.protection() instanceof Listen.Protection.Tls ? "https" : "http";
    String host = listen.host().contains(":") ? "[" + listen.host() + "]" : listen.host();
    return scheme + "://" + host + ":" + port();
  }

  /** Where surfaces listen that speak another protocol, too. */
  public List<String> besides() {
    return List.copyOf(besides);
  }

  /** The connections, for metrics. */
  public Connections connections() {
    return connections;
  }

  /**
   * Refuses new calls and waits for calls at work.
   *
   * @return whether all of it ended within that time
   */
  public boolean drain(Duration atMost) {
    parts.places().drain();
    surfaces.forEach(Surface::drains);
    try {
      return parts.places().awaitFree(atMost);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Closes all connections. */
  @Override
  public void close() {
    surfaces.forEach(Surface::close);
    try {
      await(vertx.close());
    } catch (ExecutionException e) {
      throw new IllegalStateException("Vert.x did not close", e.getCause());
    }
  }

  private static <T> T await(Future<T> future) throws ExecutionException {
    try {
      return future
          .toCompletionStage()
          .toCompletableFuture()
          .get(START_WITHIN.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    } catch (TimeoutException e) {
      throw new IllegalStateException("no answer from Vert.x within " + START_WITHIN, e);
    }
  }
}
