package dev.writ.sandbox.egress;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.SandboxError;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The only way out of a sandbox that has one: an HTTP proxy on a Unix socket, for one command. It
 * connects to what the rules list and to nothing else, resolves names itself, connects to the very
 * address that it checked, and records every lookup and connection. When it is closed, or cannot
 * decide, there is no way out.
 */
public final class EgressProxy implements AutoCloseable {
  private static final int MOST_HEAD = 16 * 1024;
  private static final int MOST_EVENTS = 10_000;
  private static final int MOST_CONNECTIONS = 64;
  private static final int CONNECT_MS = 10_000;

  private final List<EgressRule> rules;
  private final Resolver resolver;
  private final ServerSocketChannel server;
  private final List<EgressEvent> events = new ArrayList<>();
  private final Set<SocketChannel> channels = ConcurrentHashMap.newKeySet();
  private final Set<Thread> workers = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  private EgressProxy(List<EgressRule> rules, Resolver resolver, ServerSocketChannel server) {
    this.rules = List.copyOf(rules);
    this.resolver = resolver;
    this.server = server;
  }

  /**
   * Listens.
   *
   * @param socket where; must not be there yet, and at most 107 bytes long
   * @throws WritException {@code SBX-007}
   */
  public static EgressProxy open(Path socket, List<EgressRule> rules, Resolver resolver) {
    try {
      ServerSocketChannel server = ServerSocketChannel.open(StandardProtocolFamily.UNIX);
      try {
        server.bind(UnixDomainSocketAddress.of(socket), 64);
      } catch (IOException | RuntimeException e) {
        server.close();
        throw e;
      }
      EgressProxy proxy = new EgressProxy(rules, resolver, server);
      Thread.ofVirtual().name("writ-egress").start(proxy::accept);
      return proxy;
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "the egress proxy cannot listen", e);
    }
  }

  private void accept() {
    while (!closed) {
      try {
        SocketChannel client = server.accept();
        channels.add(client);
        if (closed || workers.size() >= MOST_CONNECTIONS || full()) {
          drop(client);
          continue;
        }
        Thread worker = Thread.ofVirtual().unstarted(() -> serve(client));
        workers.add(worker);
        worker.start();
      } catch (IOException e) {
        return; // closed
      }
    }
  }

  private void serve(SocketChannel client) {
    try {
      ProxyRequest request = ProxyRequest.parse(readHead(client));
      connect(client, request);
    } catch (ProxyRequest.Malformed e) {
      record(denied("", 0, "malformed: " + e.getMessage()));
      answer(client, "400 Bad Request", e.getMessage());
    } catch (IOException e) {
      // The command went away before it asked for anything.
    } finally {
      drop(client);
      workers.remove(Thread.currentThread());
    }
  }

  /** Byte by byte, so that nothing of what follows the head is taken. */
  private static String readHead(SocketChannel client) throws IOException, ProxyRequest.Malformed {
    StringBuilder head = new StringBuilder();
    ByteBuffer one = ByteBuffer.allocate(1);
    while (head.length() < MOST_HEAD) {
      one.clear();
      if (client.read(one) < 0) {
        throw new IOException("end of stream");
      }
      head.append((char) (one.get(0) & 0xff));
      if (head.length() >= 4 && head.substring(head.length() - 4).equals("\r\n\r\n")) {
        return head.toString();
      }
    }
    throw new ProxyRequest.Malformed("a head of more than " + MOST_HEAD + " bytes");
  }

  private void connect(SocketChannel client, ProxyRequest request) throws IOException {
    String host = request.host();
    int port = request.port();
    List<EgressRule> covering = rules.stream().filter(r -> r.covers(host, port)).toList();
    if (covering.isEmpty()) {
      refuse(client, host, port, "not listed");
      return;
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
      record(new EgressEvent.Connection(host, port, "", "failed", "no answer", 0, 0));
      answer(client, "502 Bad Gateway", "no answer");
      return;
    }
    carry(client, origin, request);
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

  private void carry(SocketChannel client, SocketChannel origin, ProxyRequest request)
      throws IOException {
    AtomicLong sent = new AtomicLong();
    AtomicLong received = new AtomicLong();
    String address = ((InetSocketAddress) origin.getRemoteAddress()).getAddress().getHostAddress();
    try {
      if (request.tunnel()) {
        write(
            client,
            "HTTP/1.1 200 Connection established\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
      } else {
        write(origin, request.head());
        sent.addAndGet(request.head().length);
      }
      Thread up = Thread.ofVirtual().start(() -> copy(client, origin, sent));
      copy(origin, client, received);
      drop(client); // so that the other direction ends too
      join(up);
    } finally {
      drop(origin);
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

  private static void copy(SocketChannel from, SocketChannel to, AtomicLong count) {
    ByteBuffer buffer = ByteBuffer.allocate(1 << 14);
    try {
      while (from.read(buffer.clear()) >= 0) {
        buffer.flip();
        while (buffer.hasRemaining()) {
          count.addAndGet(to.write(buffer));
        }
      }
      to.shutdownOutput();
    } catch (IOException e) {
      // One side is gone; what was carried is counted.
    }
  }

  private void refuse(SocketChannel client, String host, int port, String reason) {
    record(denied(host, port, reason));
    answer(client, "403 Forbidden", reason);
  }

  private static EgressEvent denied(String host, int port, String reason) {
    return new EgressEvent.Connection(host, port, "", "denied", reason, 0, 0);
  }

  private static void answer(SocketChannel client, String status, String reason) {
    byte[] body = ("writ: egress: " + reason + "\n").getBytes(StandardCharsets.US_ASCII);
    String head =
        "HTTP/1.1 "
            + status
            + "\r\nContent-Type: text/plain\r\nConnection: close\r\n"
            + "Content-Length: "
            + body.length
            + "\r\n\r\n";
    try {
      write(client, head.getBytes(StandardCharsets.US_ASCII));
      write(client, body);
    } catch (IOException e) {
      // It does not want to know.
    }
  }

  private static void write(SocketChannel channel, byte[] bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.wrap(bytes);
    while (buffer.hasRemaining()) {
      channel.write(buffer);
    }
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

  /** What happened so far, in the order of the ends. */
  public List<EgressEvent> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  /** Ends every connection; afterwards {@link #events} has all. */
  @Override
  public void close() {
    closed = true;
    try {
      server.close();
    } catch (IOException e) {
      // Nothing listens any more either way.
    }
    channels.forEach(this::drop);
    workers.forEach(EgressProxy::join);
  }
}
