package dev.writ.gateway.http.server;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.Client;
import dev.writ.gateway.http.Connections;
import dev.writ.gateway.http.Exchange;
import dev.writ.gateway.http.HopSettings;
import dev.writ.gateway.http.Hosts;
import dev.writ.gateway.http.IngressPolicy;
import dev.writ.gateway.http.InvalidRequest;
import dev.writ.gateway.http.Listen;
import dev.writ.gateway.http.Listener;
import dev.writ.gateway.http.Observer;
import dev.writ.gateway.http.Origins;
import dev.writ.gateway.http.Problems;
import dev.writ.gateway.http.Reply;
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
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.gateway.http.message.TraceContext;
import dev.writ.gateway.schedule.SharedSlots;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClientAgent;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.PoolOptions;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;

/**
 * What a gateway shows to its callers while it comes to own cells and loses them: it listens all
 * the time. Requests for a cell are answered here while a {@link GatewayServer} is started on its
 * {@link FrontCell}; else they are forwarded to the owner, but for those about this gateway alone.
 * Other gateways reach it on an address of its own, where what they forward is answered if this one
 * is the owner, and never forwarded again.
 */
public final class Front implements AutoCloseable {
  /** The header of the answer that says that nothing was done. */
  public static final String NOT_OWNER = "Writ-Not-Owner";

  /** In place of the number of a cell: whoever forwards is not known here. */
  static final String UNKNOWN = "unknown";

  private static final int WAITING_MAX = 1024;
  private static final long GATHERED_BYTES_MAX = 64L << 20;
  private static final int CONNECTIONS_MAX = 512;

  /** Less than the time after which the other side closes an idle connection. */
  private static final int IDLE_S = 10;

  private static final int CONNECT_MS = 2000;
  private static final Duration LAST_ANSWERS = Duration.ofSeconds(2);

  private final HopSettings settings;
  private final HopKey key;
  private final CellChoice choice;
  private final List<FrontCell> cells = new ArrayList<>();
  private final SharedSlots slots = new SharedSlots();
  private final InstantSource clock;
  private final ServerParts parts;
  private final Set<String> own = new TreeSet<>();
  private final Listener listener;
  private final HttpClientAgent client;
  private final AtomicInteger hopPort = new AtomicInteger();
  private final AtomicInteger waiting = new AtomicInteger();
  private final AtomicLong gathered = new AtomicLong();
  private final AtomicInteger atWork = new AtomicInteger();
  private final AtomicLong forwarded = new AtomicLong();
  private final AtomicLong lost = new AtomicLong();
  private volatile boolean closing;
  private volatile boolean givingUp;

  /**
   * @param surfaces about this gateway alone, which it answers itself while it owns nothing, and
   *     always where there are several cells
   * @param choice which cell a request is for
   * @param first the number of the first cell, for people
   * @param key by which gateways know each other
   */
  public record Config(
      Listen listen,
      HttpLimits limits,
      List<String> hosts,
      List<Surface> surfaces,
      List<Authenticator> authenticators,
      HopSettings settings,
      HopKey key,
      CellChoice choice,
      int first,
      Observer observer,
      BiConsumer<TraceContext, Throwable> failures,
      InstantSource clock,
      SecureRandom random) {}

  /** Another gateway. */
  record Peer(String host, int port) {
    public static Peer of(String address) {
      int colon = address.lastIndexOf(':');
      return new Peer(address.substring(0, colon), Integer.parseInt(address.substring(colon + 1)));
    }

    public String address() {
      return host + ":" + port;
    }
  }

  private Front(Config config) {
    this.settings = config.settings();
    this.key = config.key();
    this.choice = config.choice();
    for (int number = 0; number < choice.cells(); number++) {
      cells.add(new FrontCell(this, number, config.first() + number));
    }
    this.clock = config.clock();
    this.parts =
        new ServerParts(
            config.limits(),
            new Router(config.surfaces()),
            Hosts.of(config.listen(), config.hosts()),
            new AtomicReference<>(
                IngressPolicy.of(
                    config.authenticators(), new Certificates(List.of()), new Origins(List.of()))),
            new ConcurrencyLimiter(config.limits()),
            TenantCells.ALONE,
            config.observer(),
            config.failures(),
            config.clock(),
            config.random());
    config.surfaces().forEach(surface -> surface.routes().forEach(route -> own.add(route.path())));
    this.listener = new Listener(config.listen(), config.limits(), new Routing());
    try {
      this.client =
          listener
              .vertx()
              .createHttpClient(
                  clientOptions(),
                  new PoolOptions()
                      .setHttp1MaxSize(CONNECTIONS_MAX)
                      .setMaxWaitQueueSize(config.limits().concurrentMax()));
    } catch (RuntimeException e) {
      listener.close();
      throw e;
    }
  }

  /**
   * Listens. Nothing is owned yet.
   *
   * @throws WritException {@code GWY-004}, {@code GWY-007}
   */
  public static Front open(Config config) {
    Front front = new Front(config);
    try {
      front.open(config.listen(), config.limits());
      return front;
    } catch (RuntimeException e) {
      front.listener.close();
      throw e;
    }
  }

  private Optional<TlsFiles> files(Listen listen) {
    return listen.protection() instanceof Listen.Protection.Tls tls
        ? Optional.of(TlsFiles.read(tls, listener.vertx(), clock.instant()))
        : Optional.empty();
  }

  /**
   * Changes who may ask for what is about this gateway alone, and the TLS files for new
   * connections, also for those to other gateways and from them, whatever is owned here.
   *
   * @throws WritException {@code GWY-007}; nothing has changed then
   */
  public synchronized void change(Listen listen, List<Authenticator> authenticators) {
    Optional<TlsFiles> files = files(listen);
    Optional<TlsFiles> amongGateways = amongGateways();
    IngressPolicy open =
        IngressPolicy.of(authenticators, new Certificates(List.of()), new Origins(List.of()));
    IngressPolicy before = parts.doors().getAndSet(files.map(open::with).orElse(open));
    if (files.isPresent() || amongGateways.isPresent()) {
      try {
        if (files.isPresent()) {
          listener.use(files.get());
        }
        if (amongGateways.isPresent()) {
          useAmongGateways(amongGateways.get());
        }
      } catch (ExecutionException e) {
        parts.doors().set(before);
        throw unusable(e);
      }
    }
  }

  /** Follows the files of TLS for callers, and those among gateways. */
  public List<TlsRenewal> renewals(TlsRenewal.Told told) {
    List<TlsRenewal> all = new ArrayList<>();
    listener.renewal(clock, this::renew, told).ifPresent(all::add);
    settings
        .protection()
        .map(tls -> listener.renewalOnOthers(tls, clock, this::renewAmongGateways, told))
        .ifPresent(all::add);
    return all;
  }

  private synchronized void renew(TlsFiles files) {
    try {
      listener.use(files);
    } catch (ExecutionException e) {
      throw unusable(e);
    }
    parts.doors().updateAndGet(doors -> doors.with(files));
    cells.forEach(cell -> cell.here().ifPresent(taker -> taker.use(files)));
  }

  private synchronized void renewAmongGateways(TlsFiles files) {
    try {
      useAmongGateways(files);
    } catch (ExecutionException e) {
      throw unusable(e);
    }
  }

  private void useAmongGateways(TlsFiles files) throws ExecutionException {
    listener.useOnOthers(files);
    Listener.await(client.updateSSLOptions(files.toOthers()));
  }

  private static WritException unusable(ExecutionException e) {
    return new WritException(
        GatewayError.TLS_UNUSABLE, e.getCause().getClass().getSimpleName(), e.getCause());
  }

  private Optional<TlsFiles> amongGateways() {
    return settings.protection().map(tls -> TlsFiles.read(tls, listener.vertx(), clock.instant()));
  }

  private void open(Listen listen, HttpLimits limits) {
    Optional<TlsFiles> files = files(listen);
    files.ifPresent(f -> parts.doors().updateAndGet(doors -> doors.with(f)));
    listener.open(files);
    // A forwarded head has more in it: who the client is, and its certificates.
    HttpServerOptions hop =
        Listener.options(limits)
            .setMaxHeaderSize(2 * limits.headBytesMax())
            .setHost(settings.host())
            .setPort(settings.port());
    Optional<TlsFiles> amongGateways = amongGateways();
    amongGateways.ifPresent(tls -> Listener.protect(tls, hop));
    listener.deploy(
        settings.host() + ":" + settings.port(),
        amongGateways,
        () ->
            listener.new Loop(hop, hopPort) {
              @Override
              protected void handle(HttpServerRequest request) {
                hop(request);
              }
            });
  }

  private HttpClientOptions clientOptions() {
    HttpClientOptions options =
        new HttpClientOptions()
            .setKeepAliveTimeout(IDLE_S)
            .setConnectTimeout(CONNECT_MS)
            .setDecompressionSupported(false);
    amongGateways()
        .ifPresent(tls ->
            options
                .setSsl(true)
                .setVerifyHost(true)
                .setKeyCertOptions(tls.own())
                .setTrustOptions(tls.clients().orElseThrow()));
    return options;
  }

  /** Gives each request to whoever answers it. */
  private final class Routing implements Listener.Taker {
    private boolean isAlone() {
      return cells.size() == 1;
    }

    @Override
    public ServerParts parts() {
      return isAlone() ? cells.getFirst().here().map(Listener.Taker::parts).orElse(parts) : parts;
    }

    @Override
    public void take(HttpServerRequest request, Vertx vertx, Connections.Watch watch) {
      if (isAlone() && cells.getFirst().here().isPresent()) {
        forward(cells.getFirst(), request, vertx, watch);
        return;
      }
      if (request.path() != null && own.contains(request.path())) {
        Client from = Client.of(request, watch, parts.limits().proxies());
        new Exchange(parts, vertx, request, watch, from, () -> {}).begin();
        return;
      }
      if (isAlone()) {
        forward(cells.getFirst(), request, vertx, watch);
        return;
      }
      route(request, vertx, watch);
    }

    private void route(HttpServerRequest request, Vertx vertx, Connections.Watch watch) {
      OptionalInt number =
          choice.of(
              request.method().name(),
              request.path() == null ? "" : request.path(),
              Headers.of(request.headers()),
              Client.of(request, watch, parts.limits().proxies()),
              clock.instant());
      if (number.isPresent()) {
        FrontCell cell = cells.get(number.getAsInt());
        if (choice.mayBeElsewhere(cell.number(), request)) {
          ask(cell, request, vertx, watch);
        } else {
          forward(cell, request, vertx, watch);
        }
        return;
      }
      Context context = vertx.getOrCreateContext();
      new BodyRouting(
              Front.this,
              context,
              request,
              watch,
              (found, body) -> {
                if (isRefused(found, request)) {
                  return;
                }
                atWork.incrementAndGet();
                new ForwardedCall(
                        cells.get(found),
                        ForwardedCall.Asks.THAT_CELL,
                        context,
                        client,
                        request,
                        watch,
                        Optional.of(body))
                    .begin();
              })
          .begin();
    }

    private void forward(
        FrontCell cell, HttpServerRequest request, Vertx vertx, Connections.Watch watch) {
      Optional<Listener.Taker> here = cell.here();
      if (here.isPresent()) {
        here.get().take(request, vertx, watch);
        return;
      }
      if (isRefused(cell.number(), request)) {
        return;
      }
      forwarded(cell, ForwardedCall.Asks.THAT_CELL, request, vertx, watch);
    }

    /** Asks the cell, and where it has no such thing, those in which the tenant was before. */
    private void ask(
        FrontCell cell, HttpServerRequest request, Vertx vertx, Connections.Watch watch) {
      if (!isRefused(cell.number(), request)) {
        forwarded(cell, ForwardedCall.Asks.FORMER_CELLS_TOO, request, vertx, watch);
      }
    }

    private void forwarded(
        FrontCell cell,
        ForwardedCall.Asks asks,
        HttpServerRequest request,
        Vertx vertx,
        Connections.Watch watch) {
      atWork.incrementAndGet();
      new ForwardedCall(
              cell, asks, vertx.getOrCreateContext(), client, request, watch, Optional.empty())
          .begin();
    }
  }

  /** Whether operators have it that such a request does not pass through here; it is answered. */
  private boolean isRefused(int cell, HttpServerRequest request) {
    try {
      choice.requireHere(cell);
      return false;
    } catch (WritException e) {
      refuse(request, e, "");
      return true;
    }
  }

  /** A request that another gateway forwards, or this one itself. */
  private void hop(HttpServerRequest request) {
    Connections connections = listener.connections();
    Connections.Watch watch = connections.watch(request.connection(), listener.vertx());
    HopKey.Said said;
    try {
      String header = request.getHeader(HopKey.HEADER);
      if (header == null) {
        throw new WritException(GatewayError.NOT_A_GATEWAY, "no header " + HopKey.HEADER);
      }
      said = key.verify(header, request.method().name(), request.uri(), address(), clock.instant());
    } catch (WritException e) {
      refuse(request, e, UNKNOWN);
      return;
    }
    Optional<Listener.Taker> here =
        said.cell() < cells.size() ? cells.get(said.cell()).here() : Optional.empty();
    boolean isTaken =
        here.filter(taker -> taker.takeForwarded(request, listener.vertx(), watch, said.client()))
            .isPresent();
    if (!isTaken) {
      // No line of the log: it is for a gateway alone, which asks for each request that waits there
      // again and again until the cell is taken over, and logs what its client is told.
      WritException why = new WritException(GatewayError.NOT_OWNER, "cell " + said.cell());
      answer(request, Problems.answer(why, parts.newTrace()), String.valueOf(said.cell()));
    }
  }

  /**
   * @param notOwned the cell that is not owned here, or {@link #UNKNOWN}
   */
  private void refuse(HttpServerRequest request, WritException why, String notOwned) {
    answer(
        request,
        InvalidRequest.refused(parts, why, Connections.address(request.connection())),
        notOwned);
  }

  private void answer(HttpServerRequest request, HttpAnswer answer, String notOwned) {
    byte[] bytes = ((HttpAnswer.Body.Bytes) answer.body()).bytes();
    request.response().exceptionHandler(_ -> {});
    Reply.head(answer, request.response(), clock.instant());
    request
        .response()
        .putHeader(NOT_OWNER, notOwned)
        .putHeader(HttpHeaders.CONNECTION, "close")
        .putHeader(HttpHeaders.CONTENT_LENGTH, String.valueOf(bytes.length))
        .end(Buffer.buffer(bytes))
        .onComplete(_ -> request.connection().close());
  }

  /** One cell of the installation. */
  public FrontCell cell(int number) {
    return cells.get(number);
  }

  /** The slots that all cells which are served here share. */
  public SharedSlots slots() {
    return slots;
  }

  /** Where other gateways reach this one. */
  public String address() {
    return settings.address().orElseGet(() -> settings.host() + ":" + hopPort.get());
  }

  /** When the certificate ends that callers are shown; empty without TLS. */
  public Optional<Instant> certificateEnd() {
    return listener.inForce().map(TlsFiles::ends);
  }

  /** When the one ends that other gateways are shown; empty without TLS. */
  public Optional<Instant> hopCertificateEnd() {
    return listener.inForceOnOthers().map(TlsFiles::ends);
  }

  public String url() {
    return listener.url();
  }

  public int port() {
    return listener.port();
  }

  /** Requests whose answers came from an owner elsewhere. */
  public long forwardedSoFar() {
    return forwarded.get();
  }

  /** Requests of which nobody knows what became, since their owner was lost. */
  public long lostSoFar() {
    return lost.get();
  }

  /** Requests that wait for an owner. */
  public int waiting() {
    return waiting.get();
  }

  /**
   * Lets forwarded requests end; then those that still wait for an owner are refused.
   *
   * @return whether they ended within that time
   */
  public boolean drain(Duration atMost) {
    closing = true;
    long end = System.nanoTime() + atMost.toNanos();
    try {
      while (atWork.get() > 0 && System.nanoTime() < end) {
        Thread.sleep(5);
      }
      givingUp = true;
      return atWork.get() == 0;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  /** Closes all connections, those at work a moment later. */
  @Override
  public void close() {
    listener.shutDown(LAST_ANSWERS);
    listener.close();
  }

  // For requests that are forwarded.

  Listener listener() {
    return listener;
  }

  CellChoice choice() {
    return choice;
  }

  /** This gateway, as the others reach it. */
  Peer self() {
    return Peer.of(address());
  }

  HopSettings settings() {
    return settings;
  }

  HopKey key() {
    return key;
  }

  InstantSource clock() {
    return clock;
  }

  ServerParts parts() {
    return parts;
  }

  public Vertx vertx() {
    return listener.vertx();
  }

  boolean isClosing() {
    return closing;
  }

  boolean isGivingUp() {
    return givingUp;
  }

  boolean mayWait() {
    if (waiting.incrementAndGet() > WAITING_MAX) {
      waiting.decrementAndGet();
      return false;
    }
    return true;
  }

  /** Whether so many bytes more of documents may be held to find out whose they are. */
  boolean mayGather(int bytes) {
    if (gathered.addAndGet(bytes) > GATHERED_BYTES_MAX) {
      gathered.addAndGet(-bytes);
      return false;
    }
    return true;
  }

  void gathered(int bytes) {
    gathered.addAndGet(-bytes);
  }

  void waitsNoMore() {
    waiting.decrementAndGet();
  }

  void forwarded() {
    forwarded.incrementAndGet();
  }

  void lost() {
    lost.incrementAndGet();
  }

  void done() {
    atWork.decrementAndGet();
  }
}
