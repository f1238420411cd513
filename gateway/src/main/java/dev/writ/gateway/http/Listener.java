package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.limit.HttpLimits;
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
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;

/** The sockets of an HTTP server: HTTP/1.1 on a few event loops. */
public final class Listener implements AutoCloseable {
  /** Connections that were chosen to make room and are not closed yet. */
  private static final int CLOSING_MAX = 32;

  private static final Duration START_WITHIN = Duration.ofSeconds(30);

  private final Listen listen;
  private final HttpLimits limits;
  private final Connections connections;
  private final BoundedTransport sockets;
  private final Vertx vertx;
  private final AtomicInteger port = new AtomicInteger();
  private final ConcurrentLinkedQueue<HttpServer> servers = new ConcurrentLinkedQueue<>();

  /** Those on other addresses. */
  private final ConcurrentLinkedQueue<HttpServer> others = new ConcurrentLinkedQueue<>();

  private final Taker taker;
  private volatile Optional<TlsFiles> inForce = Optional.empty();
  private volatile Optional<TlsFiles> inForceOnOthers = Optional.empty();

  /** Answers requests. */
  public interface Taker {
    /** What is needed to refuse what is no request. */
    ServerParts parts();

    /** On the event loop of the request's connection. */
    void take(HttpServerRequest request, Vertx vertx, Connections.Watch watch);

    /**
     * The same for a request that another gateway forwarded.
     *
     * @param client whose request it is
     * @return false where it is not answered here, and nothing was done
     */
    default boolean takeForwarded(
        HttpServerRequest request, Vertx vertx, Connections.Watch watch, Client client) {
      return false;
    }

    /** New connections use these files of TLS from now on: what goes by them is to change, too. */
    default void use(TlsFiles files) {}
  }

  public Listener(Listen listen, HttpLimits limits, Taker taker) {
    this.listen = listen;
    this.limits = limits;
    this.taker = taker;
    this.connections = new Connections(limits);
    this.sockets = new BoundedTransport(limits.connectionsMax() + CLOSING_MAX);
    this.vertx =
        Vertx.builder()
            .withTransport(new GuardedTransport(sockets, connections))
            .with(
                new VertxOptions()
                    .setEventLoopPoolSize(loops())
                    .setWorkerPoolSize(1)
                    .setInternalBlockingPoolSize(1)
                    .setFileSystemOptions(noCache()))
            .build();
  }

  /** Without Vert.x's directory for copies of what lies in jars, which every user may write to. */
  static FileSystemOptions noCache() {
    return new FileSystemOptions().setFileCachingEnabled(false).setClassPathResolvingEnabled(false);
  }

  private static int loops() {
    return Math.clamp(Runtime.getRuntime().availableProcessors(), 1, 4);
  }

  Listen listen() {
    return listen;
  }

  public Vertx vertx() {
    return vertx;
  }

  public Connections connections() {
    return connections;
  }

  public BoundedTransport sockets() {
    return sockets;
  }

  /**
   * Listens.
   *
   * @throws WritException {@code GWY-004}
   */
  public void open(Optional<TlsFiles> files) {
    HttpServerOptions options = options(limits).setHost(listen.host()).setPort(listen.port());
    files.ifPresent(f -> protect(f, options));
    deploy(
        listen.host() + ":" + listen.port(),
        () ->
            new Loop(options, port) {
              @Override
              protected void handle(HttpServerRequest request) {
                taker.take(request, vertx, connections.watch(request.connection(), vertx));
              }
            });
    inForce = files;
  }

  /** The files that new connections of callers use; empty without TLS. */
  public Optional<TlsFiles> inForce() {
    return inForce;
  }

  /** The same of the servers of {@link #deploy}. */
  public Optional<TlsFiles> inForceOnOthers() {
    return inForceOnOthers;
  }

  /**
   * Follows the files of TLS for callers.
   *
   * @param clock that of the certificates' times
   * @param use has new connections use them, and whatever else goes by them
   * @return empty without TLS
   */
  public Optional<TlsRenewal> renewal(
      InstantSource clock, Consumer<TlsFiles> use, TlsRenewal.Told told) {
    return listen.protection() instanceof Listen.Protection.Tls tls
        ? Optional.of(renewal(tls, this::inForce, clock, use, told))
        : Optional.empty();
  }

  /** Follows those of the servers of {@link #deploy}. */
  public TlsRenewal renewalOnOthers(
      Listen.Protection.Tls tls,
      InstantSource clock,
      Consumer<TlsFiles> use,
      TlsRenewal.Told told) {
    return renewal(tls, this::inForceOnOthers, clock, use, told);
  }

  private TlsRenewal renewal(
      Listen.Protection.Tls tls,
      Supplier<Optional<TlsFiles>> inForce,
      InstantSource clock,
      Consumer<TlsFiles> use,
      TlsRenewal.Told told) {
    return new TlsRenewal(
        tls,
        () -> inForce.get().map(TlsFiles::contents),
        contents -> {
          TlsFiles next = TlsFiles.of(contents, tls, vertx, clock.instant());
          use.accept(next);
          return next.ends();
        },
        told);
  }

  /**
   * Listens on one address more, with servers of another kind.
   *
   * @param files by which its options are protected
   */
  public void deploy(String address, Optional<TlsFiles> files, Supplier<Loop> loop) {
    deploy(address, loop);
    inForceOnOthers = files;
  }

  private void deploy(String address, Supplier<Loop> loop) {
    try {
      await(vertx.deployVerticle(loop::get, new DeploymentOptions().setInstances(loops())));
    } catch (ExecutionException e) {
      throw new WritException(
          GatewayError.LISTEN_FAILED, address + ": " + e.getCause().getMessage(), e.getCause());
    }
  }

  /** A server on one event loop; all of its kind listen on one port. */
  public abstract class Loop extends VerticleBase {
    private final HttpServerOptions options;
    private final AtomicInteger actual;

    public Loop(HttpServerOptions options, AtomicInteger actual) {
      this.options = options;
      this.actual = actual;
    }

    protected abstract void handle(HttpServerRequest request);

    @Override
    public Future<?> start() {
      HttpServer server = vertx.createHttpServer(new HttpServerOptions(options));
      (actual == port ? servers : others).add(server);
      server.connectionHandler(connection ->
          connections.opened(
              connection,
              vertx,
              why -> InvalidRequest.refused(taker.parts(), why, Connections.address(connection))));
      server.invalidRequestHandler(request -> new InvalidRequest(taker.parts(), request).answer());
      server.requestHandler(this::handle);
      server.exceptionHandler(_ -> {}); // broken connections: nobody to answer
      return server.listen().onSuccess(s -> actual.set(s.actualPort()));
    }
  }

  /**
   * Those of every server here, without its address. Nothing here speaks WebSocket, and the handler
   * that would compress it closes a connection with 128 requests that wait for their answers.
   */
  public static HttpServerOptions options(HttpLimits limits) {
    return new HttpServerOptions()
        .setMaxInitialLineLength(limits.uriBytesMax())
        .setMaxHeaderSize(limits.headBytesMax())
        .setSslHandshakeTimeout(limits.headWithin().toMillis())
        .setSslHandshakeTimeoutUnit(TimeUnit.MILLISECONDS)
        .setHttp2ClearTextEnabled(false)
        .setUseAlpn(false)
        .setAlpnVersions(List.of(HttpVersion.HTTP_1_1))
        .setDecompressionSupported(false)
        .setCompressionSupported(false)
        .setPerFrameWebSocketCompressionSupported(false)
        .setPerMessageWebSocketCompressionSupported(false)
        .setHandle100ContinueAutomatically(false);
  }

  public static void protect(TlsFiles files, HttpServerOptions options) {
    ServerSSLOptions tls = files.options();
    options
        .setSsl(true)
        .setKeyCertOptions(tls.getKeyCertOptions())
        .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols())
        .setClientAuth(tls.getClientAuth())
        .setTrustOptions(tls.getTrustOptions());
  }

  /** New connections use these files. */
  public void use(TlsFiles files) throws ExecutionException {
    use(files, servers);
    inForce = Optional.of(files);
  }

  /** Those to the servers of {@link #deploy} do. */
  public void useOnOthers(TlsFiles files) throws ExecutionException {
    use(files, others);
    inForceOnOthers = Optional.of(files);
  }

  private static void use(TlsFiles files, Iterable<HttpServer> these) throws ExecutionException {
    for (HttpServer server : these) {
      await(server.updateSSLOptions(files.options(), true));
    }
  }

  /** Accepts no more, and closes connections as soon as nothing is at work on them. */
  public void shutDown(Duration atMost) {
    for (HttpServer server : servers) {
      try {
        await(server.shutdown(atMost.toMillis(), TimeUnit.MILLISECONDS));
      } catch (ExecutionException e) {
        throw new IllegalStateException("Vert.x did not shut down", e.getCause());
      }
    }
  }

  public int port() {
    return port.get();
  }

  public String url() {
    String scheme = listen.protection() instanceof Listen.Protection.Tls ? "https" : "http";
    String host = listen.host().contains(":") ? "[" + listen.host() + "]" : listen.host();
    return scheme + "://" + host + ":" + port();
  }

  /** Closes all connections. */
  @Override
  public void close() {
    try {
      await(vertx.close());
    } catch (ExecutionException e) {
      throw new IllegalStateException("Vert.x did not close", e.getCause());
    }
  }

  public static <T> T await(Future<T> future) throws ExecutionException {
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
