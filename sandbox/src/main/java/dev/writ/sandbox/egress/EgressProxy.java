package dev.writ.sandbox.egress;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * The only network access of a sandbox: an HTTP proxy for one command, on a Unix socket or behind
 * an {@link EgressGate}. It connects only to destinations in the rules, resolves names itself,
 * connects to the very address that it checked, and records every lookup and connection. If a rule
 * has a {@link Broker}, the proxy sends the command's requests itself, over TLS. If it is closed,
 * or cannot decide, it lets nothing through.
 */
public final class EgressProxy implements AutoCloseable {
  static final int MOST_HEAD = 16 * 1024;

  private static final List<String> VARIABLES =
      List.of("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY");
  private static final int MOST_EVENTS = 10_000;
  private static final int MOST_CONNECTIONS = 64;
  private static final int CONNECT_MS = 10_000;
  private static final String UNVERIFIED = "the server cannot be verified";

  private final List<EgressRule> rules;
  private final Resolver resolver;
  private final Supplier<SSLContext> tls;
  private final Optional<ServerSocketChannel> server;
  private final List<EgressEvent> events = new ArrayList<>();
  private final Set<SocketChannel> channels = ConcurrentHashMap.newKeySet();
  private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private EgressProxy(
      List<EgressRule> rules,
      Resolver resolver,
      Supplier<SSLContext> tls,
      Optional<ServerSocketChannel> server) {
    this.rules = List.copyOf(rules);
    this.resolver = resolver;
    this.tls = tls;
    this.server = server;
  }

  /**
   * Listens.
   *
   * @param socket the path of its socket; must not exist yet, and be at most 107 bytes long
   * @param tls the trust for requests that it sends itself; loaded on first use
   * @throws WritException {@code SBX-007}
   */
  public static EgressProxy open(
      Path socket, List<EgressRule> rules, Resolver resolver, Supplier<SSLContext> tls) {
    try {
      ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        server.bind(UnixDomainSocketAddress.of(socket), 64);
      } catch (IOException | RuntimeException e) {
        server.close();
        throw e;
      }
      EgressProxy proxy = new EgressProxy(rules, resolver, tls, Optional.of(server));
      Thread.ofVirtual().name("writ-egress").start(() -> proxy.accept(server));
      return proxy;
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "the egress proxy cannot listen", e);
    }
  }

  /** One that listens nowhere, and gets its connections from a gate. */
  static EgressProxy behindAGate(
      List<EgressRule> rules, Resolver resolver, Supplier<SSLContext> tls) {
    return new EgressProxy(rules, resolver, tls, Optional.empty());
  }

  private void accept(ServerSocketChannel listening) {
    while (!closed) {
      try {
        SocketChannel channel = listening.accept();
        take(Peer.of(channel), client -> HttpHead.read(client.in(), MOST_HEAD));
      } catch (IOException e) {
        return; // closed
      }
    }
  }

  /** Where the head of a request comes from. */
  @FunctionalInterface
  interface Head {
    HttpHead of(Peer client) throws IOException;
  }

  /** Serves a connection, and ends it; drops it at once where this is closed or has too many. */
  void take(Peer client, Head head) {
    channels.add(client.channel());
    if (closed || workers.size() >= MOST_CONNECTIONS || full()) {
      drop(client.channel());
      return;
    }
    Thread worker = Thread.ofVirtual().unstarted(() -> serve(client, head));
    workers.add(worker);
    worker.start();
  }

  private void serve(Peer client, Head head) {
    try {
      connect(client, ProxyRequest.of(head.of(client)));
    } catch (Malformed e) {
      record(denied("", 0, "malformed: " + e.getMessage()));
      ProxyAnswers.send(client, "400 Bad Request", e.getMessage());
    } catch (IOException e) {
      // The command disconnected before it sent a request.
    } finally {
      drop(client.channel());
      workers.remove(Thread.currentThread());
    }
  }

  private void connect(Peer client, ProxyRequest request) throws IOException {
    String host = request.host();
    int port = request.port();
    List<EgressRule> covering = rules.stream().filter(r -> r.covers(host, port)).toList();
    if (covering.isEmpty()) {
      refuse(client, host, port, "not listed");
      return;
    }
    List<EgressRule> brokered = covering.stream().filter(r -> r.broker().isPresent()).toList();
    Optional<Broker> broker = Optional.empty();
    if (!brokered.isEmpty()) {
      // To a destination with a broker the command may send no requests but through the broker.
      String why = notSent(request);
      broker =
          brokered.stream()
              .map(r -> r.broker().orElseThrow())
              .filter(b -> b.sends(request.method(), request.target()))
              .findFirst();
      if (!why.isEmpty() || broker.isEmpty()) {
        refuse(client, host, port, why.isEmpty() ? "a request that is not listed" : why);
        return;
      }
      covering = brokered;
    }
    List<InetAddress> addresses;
    try {
      addresses = resolver.resolve(host);
    } catch (UnknownHostException e) {
      addresses = List.of();
    }
    record(
        new EgressEvent.Lookup(host, addresses.stream().map(InetAddress::getHostAddress).toList()));
    boolean privately = covering.stream().anyMatch(EgressRule::privateAddresses);
    if (!privately && !addresses.stream().allMatch(Addresses::isPublic)) {
      refuse(client, host, port, "the name leads to an address that is not public");
      return;
    }
    SocketChannel origin = reach(addresses, port);
    if (origin == null) {
      record(failed(host, port, "", "no answer"));
      ProxyAnswers.send(client, "502 Bad Gateway", "no answer");
      return;
    }
    carry(client, origin, request, broker);
  }

  private static String notSent(ProxyRequest request) {
    if (request.tunnel()) {
      return "the proxy sends requests itself here, so there is no tunnel";
    }
    return HeaderRules.hasCredential(request) ? "the request has a credential of its own" : "";
  }

  private SocketChannel reach(List<InetAddress> addresses, int port) {
    for (InetAddress address : addresses) {
      SocketChannel origin = null;
      try {
        origin = SocketChannel.open();
        channels.add(origin);
        origin.socket().connect(new InetSocketAddress(address, port), CONNECT_MS);
        return origin;
      } catch (IOException e) {
        drop(origin);
      }
    }
    return null;
  }

  private void carry(
      Peer client, SocketChannel channel, ProxyRequest request, Optional<Broker> broker)
      throws IOException {
    String address = ((InetSocketAddress) channel.getRemoteAddress()).getAddress().getHostAddress();
    Peer origin = Peer.of(channel);
    try {
      if (request.tunnel()) {
        tunnel(client, origin, request, address);
        return;
      }
      if (broker.isPresent()) {
        try {
          origin = OriginTls.over(tls.get(), origin, request.host(), request.port());
        } catch (IOException | WritException e) {
          record(failed(request.host(), request.port(), address, UNVERIFIED));
          ProxyAnswers.send(client, "502 Bad Gateway", UNVERIFIED);
          return;
        }
      }
      ProxyExchange exchange = new ProxyExchange(request, broker, client, origin);
      exchange.run();
      record(exchange.event(address));
    } finally {
      drop(channel);
    }
  }

  private void tunnel(Peer client, Peer origin, ProxyRequest request, String address)
      throws IOException {
    AtomicLong sent = new AtomicLong();
    AtomicLong received = new AtomicLong();
    try {
      client.write(
          "HTTP/1.1 200 Connection established\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      Thread up = Thread.ofVirtual().start(() -> copy(client, origin, sent));
      copy(origin, client, received);
      drop(client.channel()); // ends the other direction, too
      join(up);
    } finally {
      record(
          new EgressEvent.Connection(
              request.host(),
              request.port(),
              address,
              "connected",
              "",
              sent.get(),
              received.get()));
    }
  }

  private static void copy(Peer from, Peer to, AtomicLong count) {
    byte[] piece = new byte[1 << 14];
    try {
      for (int n = from.in().read(piece); n >= 0; n = from.in().read(piece)) {
        to.out().write(piece, 0, n);
        count.addAndGet(n);
      }
      to.channel().shutdownOutput();
    } catch (IOException e) {
      // One side has disconnected; the bytes so far are counted.
    }
  }

  private void refuse(Peer client, String host, int port, String reason) {
    record(denied(host, port, reason));
    // Most programs show only the status line of a proxy's refusal.
    ProxyAnswers.send(client, "403 writ refuses " + host + ":" + port + ": " + reason, reason);
  }

  private static EgressEvent denied(String host, int port, String reason) {
    return new EgressEvent.Connection(host, port, "", "denied", reason, 0, 0);
  }

  private static EgressEvent failed(String host, int port, String address, String reason) {
    return new EgressEvent.Connection(host, port, address, "failed", reason, 0, 0);
  }

  private void record(EgressEvent event) {
    synchronized (events) {
      events.add(event);
    }
  }

  private boolean full() {
    synchronized (events) {
      return events.size() >= MOST_EVENTS;
    }
  }

  private void drop(SocketChannel channel) {
    if (channel == null) {
      return;
    }
    channels.remove(channel);
    try {
      channel.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }

  private static void join(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * The variables by which programs find a proxy.
   *
   * @param url of the proxy, as the command reaches it
   */
  public static SortedMap<String, String> variables(String url) {
    TreeMap<String, String> all = new TreeMap<>();
    VARIABLES.forEach(name -> all.put(name, url));
    return all;
  }

  /** The events so far, in the order in which they ended. */
  public List<EgressEvent> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  /** Ends every connection; after that {@link #events} is complete. */
  @Override
  public void close() {
    closed = true;
    try {
      if (server.isPresent()) {
        server.get().close();
      }
    } catch (IOException e) {
      // The socket is closed in any case.
    }
    channels.forEach(this::drop);
    workers.forEach(EgressProxy::join);
  }
}
