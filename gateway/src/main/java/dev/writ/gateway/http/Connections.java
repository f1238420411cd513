package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.stage.OutOfMemory;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.limit.HttpLimits;
import dev.writ.gateway.http.message.HttpAnswer;
import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandler;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ServerChannel;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The open connections, counted from their acceptance, so that one whose TLS handshake never ends
 * counts, too. At the limit a new one replaces the oldest idle one that has never presented a valid
 * credential, or else the oldest idle one of a client that has many. A connection that waits too
 * long for a complete request head is closed, and those with the longest ones are closed if all
 * incomplete heads together take too much memory, also where a credential was shown before. Thread
 * safe.
 */
public final class Connections {
  /** Vert.x's name for the last handler of a connection, after the one that decodes HTTP. */
  private static final String VERTX_HANDLER = "handler";

  private static final Duration LINGER = Duration.ofSeconds(1);

  private final HttpLimits limits;
  private final long headBytesOfOneMax;
  private final long headBytesMax;
  private final TreeMap<String, Integer> byAddress = new TreeMap<>();
  private final KnownClients clients;
  private final ConcurrentHashMap<SocketAddress, Guard> guards = new ConcurrentHashMap<>();

  /** Connections on which no request is being answered, the one that is idle for longest first. */
  private final LinkedHashSet<Guard> idle = new LinkedHashSet<>();

  private int open;
  private long headBytes;
  private long refused;
  private long evicted;

  Connections(HttpLimits limits) {
    this.limits = limits;
    this.clients = new KnownClients(limits.connectionsMax());
    this.headBytesOfOneMax = limits.uriBytesMax() + limits.headBytesMax();
    // A field of four bytes becomes an object of about forty times that.
    this.headBytesMax = Math.max(limits.headBytesMax(), limits.memoryMax() / 64);
  }

  /** Adds the limits to every accepting socket of this bootstrap. */
  void guard(ServerBootstrap bootstrap) {
    bootstrap.handler(new Gate());
  }

  /** Adds the limits to an accepting socket that Vert.x does not run. */
  void guard(ServerChannel accepting) {
    accepting.pipeline().addLast(new Gate());
  }

  /** Accepts or closes each new connection, before any of it is read. */
  @ChannelHandler.Sharable
  private final class Gate extends ChannelInboundHandlerAdapter {
    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      Channel channel = (Channel) message;
      Guard guard = new Guard(channel, address(channel.remoteAddress()));
      if (!enter(guard)) {
        channel.unsafe().closeForcibly();
        return;
      }
      guards.put(channel.remoteAddress(), guard);
      channel
          .closeFuture()
          .addListener(_ -> {
            guards.remove(channel.remoteAddress(), guard);
            leave(guard);
          });
      channel.pipeline().addFirst(guard);
      context.fireChannelRead(message);
    }
  }

  /** One connection, and the bytes received since its last complete request head. */
  private final class Guard extends ChannelInboundHandlerAdapter {
    final Channel channel;
    final String address;
    int answering;
    long received;
    Optional<Caller> client = Optional.empty();

    /** Since when it is sent an answer that everybody may have; 0 where it is not. */
    long openSince;

    boolean left;

    Guard(Channel channel, String address) {
      this.channel = channel;
      this.address = address;
    }

    boolean isOf(Predicate<Caller> whom) {
      return client.filter(whom).isPresent();
    }

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
      if (message instanceof ByteBuf bytes) {
        received(this, bytes.readableBytes());
      }
      context.fireChannelRead(message);
    }

    @Override
    public void exceptionCaught(ChannelHandlerContext context, Throwable cause) {
      OutOfMemory.report(cause); // of Netty's buffers; it only closes the connection
      context.fireExceptionCaught(cause);
    }
  }

  /** The timer of one connection, which runs while no request of it is being answered. */
  public final class Watch {
    private final HttpConnection connection;
    private final Timer timer;
    private final Optional<Guard> guard;
    private int answering;
    private final Client.LetIn letIn = new Client.LetIn();

    public Watch(HttpConnection connection, Vertx vertx, Optional<Guard> guard) {
      this.connection = connection;
      this.timer = new Timer(vertx);
      this.guard = guard;
      idle();
    }

    private void idle() {
      timer.set(limits.headWithin(), connection::close);
    }

    /** By which trust the client's certificate was verified last. */
    Client.LetIn letIn() {
      return letIn;
    }

    public void begin() {
      answering++;
      timer.cancel();
      guard.ifPresent(Connections.this::begin);
    }

    public void end() {
      guard.ifPresent(Connections.this::end);
      if (--answering == 0) {
        idle();
      }
    }

    /**
     * Closes after a short delay: the last answer was sent, and a client that is still sending
     * needs time to read it.
     */
    public void closeSoon() {
      timer.set(LINGER, connection::close);
    }

    /** The client presented a valid credential. */
    void known(Caller client) {
      guard.ifPresent(g -> Connections.this.known(g, client));
    }

    /** What is answered now everybody may have. */
    void open() {
      guard.ifPresent(Connections.this::open);
    }
  }

  /** One call on a connection that Vert.x does not run. */
  final class Use implements AutoCloseable {
    private final Optional<Guard> guard;
    private boolean ended;

    private Use(Optional<Guard> guard) {
      this.guard = guard;
      guard.ifPresent(Connections.this::begin);
    }

    /** The client presented a valid credential. */
    void known(Caller client) {
      guard.ifPresent(g -> Connections.this.known(g, client));
    }

    @Override
    public synchronized void close() {
      if (!ended) {
        ended = true;
        guard.ifPresent(Connections.this::end);
      }
    }
  }

  /** A call begins on the connection of that client. */
  Use use(SocketAddress remote) {
    return new Use(remote == null ? Optional.empty() : Optional.ofNullable(guards.get(remote)));
  }

  private final ConcurrentHashMap<HttpConnection, Watch> watches = new ConcurrentHashMap<>();

  /** On the connection's event loop, after its handshake. */
  void opened(HttpConnection connection, Vertx vertx, Function<WritException, HttpAnswer> refusal) {
    Watch watch = new Watch(connection, vertx, guard(connection));
    watches.put(connection, watch);
    watch
        .guard
        .map(guard -> guard.channel.pipeline())
        .filter(pipeline -> pipeline.get(VERTX_HANDLER) != null)
        .ifPresent(
            pipeline -> pipeline.addBefore(VERTX_HANDLER, "faults", new HttpFaults(refusal)));
    connection.closeHandler(_ -> {
      watch.timer.cancel();
      watches.remove(connection);
    });
  }

  /** The watch of a connection; a new, unused one if the connection is already closing. */
  public Watch watch(HttpConnection connection, Vertx vertx) {
    Watch watch = watches.get(connection);
    return watch != null ? watch : new Watch(connection, vertx, Optional.empty());
  }

  private Optional<Guard> guard(HttpConnection connection) {
    var remote = connection.remoteAddress();
    return remote == null || remote.hostAddress() == null
        ? Optional.empty()
        : Optional.ofNullable(
            guards.get(new InetSocketAddress(remote.hostAddress(), remote.port())));
  }

  public static String address(HttpConnection connection) {
    var remote = connection.remoteAddress();
    return remote == null || remote.hostAddress() == null ? "-" : remote.hostAddress();
  }

  static String address(SocketAddress remote) {
    return remote instanceof InetSocketAddress inet && inet.getAddress() != null
        ? inet.getAddress().getHostAddress()
        : "-";
  }

  private synchronized boolean enter(Guard guard) {
    // A proxy's connections are those of all its callers, of whom each has limits of its own.
    if (!limits.proxies().include(guard.address)
        && byAddress.getOrDefault(guard.address, 0) >= limits.connectionsPerAddressMax()
        && !evict(each -> each.address.equals(guard.address))) {
      refused++;
      return false;
    }
    if (open >= limits.connectionsMax() && !evict(_ -> true)) {
      refused++;
      return false;
    }
    open++;
    byAddress.merge(guard.address, 1, Integer::sum);
    idle.add(guard);
    return true;
  }

  /**
   * Closes the connection that is idle for longest among those whose client is unknown. Where there
   * is none: the one whose unknown client reads its answer for longest; the one that is idle for
   * longest of a credential that has many, or of a tenant that has many. So none of these keeps
   * others out.
   */
  private boolean evict(Predicate<Guard> of) {
    return evict(
        oldest(of, guard -> guard.client.isEmpty())
            .or(() -> slowestStranger(of))
            .or(() -> oldest(of, guard -> guard.isOf(clients::credentialHasMany)))
            .or(() -> oldest(of, guard -> guard.isOf(clients::tenantHasMany))));
  }

  private Optional<Guard> oldest(Predicate<Guard> of, Predicate<Guard> whose) {
    return idle.stream().filter(of).filter(whose).findFirst();
  }

  private Optional<Guard> slowestStranger(Predicate<Guard> of) {
    return guards.values().stream()
        .filter(of)
        .filter(guard -> !guard.left && guard.openSince != 0 && guard.client.isEmpty())
        .min(Comparator.comparingLong(guard -> guard.openSince));
  }

  private boolean evict(Optional<Guard> chosen) {
    chosen.ifPresent(guard -> {
      leave(guard);
      evicted++;
      guard.channel.close();
    });
    return chosen.isPresent();
  }

  /** The longest incomplete head; of equal ones that of the connection that is idle for longest. */
  private Optional<Guard> longestHead() {
    return idle.stream()
        .filter(guard -> guard.received > 0)
        .max(Comparator.comparingLong(guard -> guard.received));
  }

  private synchronized void leave(Guard guard) {
    if (!guard.left) {
      guard.left = true;
      open--;
      byAddress.computeIfPresent(guard.address, (_, count) -> count == 1 ? null : count - 1);
      idle.remove(guard);
      guard.client.ifPresent(clients::remove);
      headBytes -= guard.received;
      guard.received = 0;
    }
  }

  private synchronized void received(Guard guard, int bytes) {
    if (guard.left || guard.answering > 0) {
      return;
    }
    // Of frames of HTTP/2 between calls nothing is held, and of a head no more than may be read.
    long held = Math.min(bytes, headBytesOfOneMax - guard.received);
    guard.received += held;
    headBytes += held;
    while (headBytes > headBytesMax && evict(longestHead())) {
      // loop until the rest is small enough
    }
  }

  private synchronized void begin(Guard guard) {
    guard.answering++;
    idle.remove(guard);
    headBytes -= guard.received;
    guard.received = 0;
  }

  private synchronized void open(Guard guard) {
    guard.openSince = System.nanoTime() | 1; // never 0
  }

  private synchronized void end(Guard guard) {
    guard.openSince = 0;
    if (--guard.answering == 0 && !guard.left) {
      idle.add(guard);
    }
  }

  private synchronized void known(Guard guard, Caller client) {
    boolean isOther = guard.client.filter(client::equals).isEmpty();
    if (!guard.left && isOther) {
      guard.client.ifPresent(clients::remove);
      guard.client = Optional.of(client);
      clients.add(client);
    }
  }

  public synchronized int open() {
    return open;
  }

  /** Connections that were refused because of the limit. */
  public synchronized long refused() {
    return refused;
  }

  /** Connections that were closed to make room. */
  public synchronized long evicted() {
    return evicted;
  }
}
