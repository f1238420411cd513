package dev.writ.sandbox.egress;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * A TCP port on which commands that run on other hosts reach their {@link EgressProxy}. Each has a
 * credential (RFC 7617, in {@code Proxy-Authorization}) that is good for its own rules, from its
 * own address, while it runs; to a request without one nothing is said but that it lacks.
 */
public final class EgressGate implements AutoCloseable {
  private static final String FIELD = "proxy-authorization";
  private static final String BASIC = "Basic ";
  private static final String USER = "command";
  private static final int CREDENTIAL_BYTES = 32;
  private static final int MOST_UNKNOWN = 1_024;
  private static final int MOST_UNKNOWN_EACH = 64;
  private static final int HEAD_MS = 10_000;

  /** Before the next connection is taken, after one could not be. */
  private static final long REST_NANOS = 50_000_000;

  private final ServerSocketChannel server;
  private final SecureRandom random = new SecureRandom();
  private final Map<Digest, Pass> passes = new ConcurrentHashMap<>();

  /** How many connections there are whose command is not known yet, by where they come from. */
  private final Map<InetAddress, Integer> unknown = new ConcurrentHashMap<>();

  private EgressGate(ServerSocketChannel server) {
    this.server = server;
  }

  /**
   * Listens.
   *
   * @throws WritException {@code SBX-007}
   */
  public static EgressGate open(InetSocketAddress address) {
    try {
      ServerSocketChannel server = ServerSocketChannel.open();
      try {
        server.bind(address, MOST_UNKNOWN);
      } catch (IOException | RuntimeException e) {
        server.close();
        throw e;
      }
      EgressGate gate = new EgressGate(server);
      Thread.ofVirtual().name("writ-egress-gate").start(gate::accept);
      return gate;
    } catch (IOException e) {
      throw new WritException(
          SandboxError.HOST, "the egress proxy cannot listen on " + address.getPort(), e);
    }
  }

  /** The right of one command to pass, until it is closed. */
  public final class Pass implements AutoCloseable {
    private final String userInfo;
    private final EgressProxy proxy;
    private volatile Optional<InetAddress> from = Optional.empty();

    private Pass(String userInfo, EgressProxy proxy) {
      this.userInfo = userInfo;
      this.proxy = proxy;
    }

    /** User and password as they stand in a proxy's URL. */
    public String userInfo() {
      return userInfo;
    }

    /** Lets the command pass, from this address alone; before it, nobody passes. */
    public void from(InetAddress address) {
      from = Optional.of(address);
    }

    /** What was done, in the order in which it ended. */
    public List<EgressEvent> events() {
      return proxy.events();
    }

    /** Ends every connection of the command; after that {@link #events} is complete. */
    @Override
    public void close() {
      passes.remove(key(userInfo));
      proxy.close();
    }
  }

  /** A new credential for a command with these rules. */
  public Pass admit(List<EgressRule> rules, Resolver resolver, Supplier<SSLContext> tls) {
    byte[] some = new byte[CREDENTIAL_BYTES];
    random.nextBytes(some);
    String userInfo = USER + ":" + HexFormat.of().formatHex(some);
    Pass pass = new Pass(userInfo, EgressProxy.behindAGate(rules, resolver, tls));
    passes.put(key(userInfo), pass);
    return pass;
  }

  /** Looked up by its digest, so that the time of a look-up tells nothing of a credential. */
  private static Digest key(String userInfo) {
    return digest(Base64.getEncoder().encodeToString(userInfo.getBytes(StandardCharsets.US_ASCII)));
  }

  private static Digest digest(String base64) {
    return Digest.sha256(base64.getBytes(StandardCharsets.UTF_8));
  }

  private void accept() {
    while (server.isOpen()) {
      try {
        SocketChannel channel = server.accept();
        InetAddress from = channel.socket().getInetAddress();
        int each = unknown.merge(from, 1, Integer::sum);
        if (each > MOST_UNKNOWN_EACH || unknown.size() > MOST_UNKNOWN) {
          leave(from);
          channel.close();
          continue;
        }
        Thread.ofVirtual().name("writ-egress-gate").start(() -> receive(channel, from));
      } catch (IOException e) {
        // Closed; or too many files are open, and later there is room again.
        LockSupport.parkNanos(REST_NANOS);
      }
    }
  }

  private void leave(InetAddress from) {
    unknown.computeIfPresent(from, (address, n) -> n == 1 ? null : n - 1);
  }

  /** Ends a connection that does not say in time whose it is, however often it says something. */
  private static Thread limit(SocketChannel channel) {
    return Thread.ofVirtual()
        .start(() -> {
          try {
            Thread.sleep(HEAD_MS);
            channel.close();
          } catch (InterruptedException | IOException e) {
            // It did, or is gone.
          }
        });
  }

  private void receive(SocketChannel channel, InetAddress from) {
    Thread limit = limit(channel);
    boolean passed = false;
    try {
      Peer client = Peer.of(channel);
      HttpHead head = HttpHead.read(client.in(), EgressProxy.MOST_HEAD);
      Optional<Pass> pass =
          credential(head)
              .flatMap(c -> Optional.ofNullable(passes.get(digest(c))))
              .filter(p -> p.from.equals(Optional.of(from)));
      if (pass.isPresent()) {
        HttpHead rest =
            new HttpHead(
                head.first(), head.fields().stream().filter(f -> !f.name().equals(FIELD)).toList());
        passed = true;
        limit.interrupt();
        pass.get().proxy.take(client, c -> rest);
      } else {
        ProxyAnswers.askForCredential(client);
      }
    } catch (IOException e) {
      // It spoke no HTTP, or nothing.
    } finally {
      leave(from);
      limit.interrupt();
      if (!passed) {
        close(channel);
      }
    }
  }

  private static void close(SocketChannel channel) {
    try {
      channel.close();
    } catch (IOException e) {
      // It is gone either way.
    }
  }

  /** User and password as a request brings them, still in base64; two fields are none. */
  private static Optional<String> credential(HttpHead head) {
    List<String> values =
        head.fields().stream()
            .filter(f -> f.name().equals(FIELD))
            .map(HttpHead.Field::value)
            .toList();
    return values.size() == 1 && values.getFirst().regionMatches(true, 0, BASIC, 0, BASIC.length())
        ? Optional.of(values.getFirst().substring(BASIC.length()).strip())
        : Optional.empty();
  }

  /** Listens no more; passes are closed by those who got them. */
  @Override
  public void close() {
    try {
      server.close();
    } catch (IOException e) {
      // The port is closed in any case.
    }
  }
}
