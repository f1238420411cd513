package dev.writ.gateway.http.server;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Client;
import dev.writ.gateway.http.Connections;
import dev.writ.gateway.http.Exchange;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.http.Ingress;
import dev.writ.gateway.http.IngressPolicy;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Listener;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.Origins;
import dev.writ.gateway.http.Router;
import dev.writ.gateway.http.ServerParts;
import dev.writ.gateway.http.Surface;
import dev.writ.gateway.http.TenantCells;
import dev.writ.gateway.http.TlsFiles;
import dev.writ.gateway.http.TlsRenewal;
import dev.writ.gateway.http.auth.Authenticator;
import dev.writ.gateway.http.auth.Certificates;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.TraceContext;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/** The HTTP server: HTTP/1.1 on a few event loops, handlers on virtual threads. */
public final class GatewayServer implements AutoCloseable {
  private final Listen listen;
  private final ServerParts parts;
  private final Listener.Taker taker = new Own();
  private final Listener listener;

  /** Where others answer, too, before this and behind it. */
  private final Optional<FrontCell> cell;

  private final Ingress ingress;
  private final List<Surface> surfaces;
  private final List<String> besides = new ArrayList<>();

  /** Calls that have begun and have no place yet. */
  private final AtomicInteger arriving = new AtomicInteger();

  private GatewayServer(
      Listen listen, ServerParts parts, List<Surface> surfaces, Optional<FrontCell> cell) {
    this.listen = listen;
    this.surfaces = List.copyOf(surfaces);
    this.parts = parts;
    this.cell = cell;
    this.listener =
        cell.map(c -> c.front().listener())
            .orElseGet(() -> new Listener(listen, parts.limits(), taker));
    this.ingress = new Ingress(listen, parts, listener.connections(), listener.sockets());
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
    return start(config, Optional.empty());
  }

  /**
   * Takes the requests for a cell of a front that listens already, until that is told otherwise.
   *
   * @throws WritException {@code GWY-004}, {@code GWY-007}
   */
  public static GatewayServer start(Config config, Optional<FrontCell> cell) {
    ServerParts parts =
        new ServerParts(
            config.limits(),
            new Router(config.surfaces()),
            Hosts.of(config.listen(), config.hosts()),
            new AtomicReference<>(
                IngressPolicy.of(
                    config.authenticators(), config.certificates(), new Origins(config.origins()))),
            config.places(),
            cell.<TenantCells>map(c -> c).orElse(TenantCells.ALONE),
            config.observer(),
            config.failures(),
            config.clock(),
            config.random());
    GatewayServer server = new GatewayServer(config.listen(), parts, config.surfaces(), cell);
    try {
      server.deploy();
      for (Surface surface : server.surfaces) {
        surface.listen(server.ingress).ifPresent(server.besides::add);
      }
      return server;
    } catch (RuntimeException e) {
      server.surfaces.forEach(Surface::close);
      if (!server.isShared()) {
        server.listener.close();
      }
      throw e;
    }
  }

  private void deploy() {
    // Those of a front are whole, also while somebody is about to renew the files.
    Optional<TlsFiles> files = isShared() ? listener.inForce() : files(listen);
    files.ifPresent(taker::use);
    if (cell.isPresent()) {
      cell.get().answeredBy(taker);
      listener.inForce().ifPresent(taker::use); // others, perhaps, by now
    } else {
      listener.open(files);
    }
  }

  private boolean isShared() {
    return cell.isPresent();
  }

  /** Answers requests by the surfaces. */
  private final class Own implements Listener.Taker {
    @Override
    public ServerParts parts() {
      return parts;
    }

    @Override
    public void take(HttpServerRequest request, Vertx vertx, Connections.Watch watch) {
      takeForwarded(request, vertx, watch, Client.of(request, watch, parts.limits().proxies()));
    }

    @Override
    public boolean takeForwarded(
        HttpServerRequest request, Vertx vertx, Connections.Watch watch, Client client) {
      arriving.incrementAndGet();
      new Exchange(parts, vertx, request, watch, client, arriving::decrementAndGet).begin();
      return true;
    }

    @Override
    public void use(TlsFiles files) {
      parts.doors().updateAndGet(doors -> doors.with(files));
      ingress.use(files.keyManager(listener.vertx()));
    }
  }

  /**
   * Reads the files of TLS, where it is spoken.
   *
   * @throws WritException {@code GWY-007}
   */
  public Optional<TlsFiles> files(Listen asked) {
    return asked.protection() instanceof Listen.Protection.Tls tls
        ? Optional.of(TlsFiles.read(tls, listener.vertx(), parts.clock().instant()))
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
        listener.use(files.get());
        ingress.use(files.get().keyManager(listener.vertx()));
      } catch (ExecutionException e) {
        parts.doors().set(before);
        throw new WritException(
            GatewayError.TLS_UNUSABLE, e.getCause().getClass().getSimpleName(), e.getCause());
      }
    }
  }

  /**
   * Follows the files of TLS.
   *
   * @return empty without TLS, and behind a front, which does it
   */
  public Optional<TlsRenewal> renewal(TlsRenewal.Told told) {
    return isShared() ? Optional.empty() : listener.renewal(parts.clock(), this::renew, told);
  }

  /** Unlike {@link #change} it leaves the callers as they are. */
  private synchronized void renew(TlsFiles files) {
    try {
      listener.use(files);
    } catch (ExecutionException e) {
      throw new WritException(
          GatewayError.TLS_UNUSABLE, e.getCause().getClass().getSimpleName(), e.getCause());
    }
    taker.use(files);
  }

  /** The port it listens on. */
  public int port() {
    return listener.port();
  }

  /** When the certificate ends that callers are shown; empty without TLS. */
  public Optional<Instant> certificateEnd() {
    return listener.inForce().map(TlsFiles::ends);
  }

  /** Where it listens. */
  public String url() {
    return listener.url();
  }

  /** Where surfaces listen that speak another protocol, too. */
  public List<String> besides() {
    return List.copyOf(besides);
  }

  /** The connections, for metrics. */
  public Connections connections() {
    return listener.connections();
  }

  /**
   * Waits for calls at work; refuses new ones, or where a front has them go elsewhere by now, lets
   * those that have begun go on.
   *
   * @return whether all of it ended within that time
   */
  public boolean drain(Duration atMost) {
    long end = System.nanoTime() + atMost.toNanos();
    parts.places().drain(!isShared());
    surfaces.forEach(Surface::drains);
    try {
      while (isShared() && arriving.get() > 0 && System.nanoTime() < end) {
        Thread.sleep(1); // until they have a place; that takes no longer
      }
      return parts.places().awaitFree(Duration.ofNanos(end - System.nanoTime()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Closes all connections, unless a front has them. */
  @Override
  public void close() {
    surfaces.forEach(Surface::close);
    if (!isShared()) {
      listener.close();
    }
  }
}
