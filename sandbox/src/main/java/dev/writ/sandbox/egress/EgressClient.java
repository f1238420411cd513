package dev.writ.sandbox.egress;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;
import javax.net.ssl.SSLContext;

/**
 * Sends single HTTP/1.1 requests of Writ itself by the rules of the egress proxy: to a destination
 * of a rule alone, to the very address that was checked, over TLS that proves the host's name. The
 * answer is parsed as strictly as the proxy does. Nothing is repeated, followed or decompressed.
 */
public final class EgressClient implements AutoCloseable {
  private static final int MOST_HEAD = 64 * 1024;
  private static final int MOST_INTERIM = 20;
  private static final int CONNECT_MS = 10_000;

  private final Resolver resolver;
  private final Supplier<SSLContext> tls;
  private final Set<SocketChannel> channels = ConcurrentHashMap.newKeySet();
  private volatile boolean closed;

  /**
   * @param tls the trust for servers; loaded on first use
   */
  public EgressClient(Resolver resolver, Supplier<SSLContext> tls) {
    this.resolver = Objects.requireNonNull(resolver);
    this.tls = Objects.requireNonNull(tls);
  }

  /**
   * A header field.
   *
   * @param name in lower case where a server sent it
   */
  public record Field(String name, String value) {
    /** The name alone: the value may be a credential. */
    @Override
    public String toString() {
      return name;
    }
  }

  /**
   * One request.
   *
   * @param rule the destination, and whether its addresses may be private
   * @param secure whether it is sent over TLS
   * @param target path and query as they stand in the request line
   * @param fields without Host, Content-Length and Connection
   */
  public record Sent(
      EgressRule rule,
      boolean secure,
      String method,
      String target,
      List<Field> fields,
      Optional<byte[]> content) {

    /**
     * @throws IllegalArgumentException for what would not be one request; callers check before
     */
    public Sent {
      fields = List.copyOf(fields);
      boolean plain =
          method.matches("[A-Z]{1,16}")
              && target.matches("/[!-~]*")
              && !target.contains("#")
              && fields.stream()
                  .allMatch(f ->
                      f.name().matches("[!#$%&'*+.^_`|~0-9A-Za-z-]+")
                          && f.value().matches("([!-~]([ -~\\t]*[!-~])?)?"));
      if (!plain || rule.host().startsWith("*")) {
        throw new IllegalArgumentException("a request that is not plain");
      }
    }

    private String host() {
      String host = rule.host().contains(":") ? "[" + rule.host() + "]" : rule.host();
      return rule.port() == (secure ? 443 : 80) ? host : host + ":" + rule.port();
    }

    @Override
    public String toString() {
      return method + " " + rule.host();
    }
  }

  /**
   * A whole answer.
   *
   * @param address of the server
   * @param fields in their order
   */
  public record Received(int status, String address, List<Field> fields, byte[] content) {
    public Received {
      fields = List.copyOf(fields);
    }

    /** The values of a field, in their order. */
    public List<String> values(String name) {
      String lower = name.toLowerCase(Locale.ROOT);
      return fields.stream().filter(f -> f.name().equals(lower)).map(Field::value).toList();
    }
  }

  /** Why there is no whole answer. */
  public enum Why {
    /** A rule forbids it. */
    DENIED,
    /** The name is unknown, or nobody answers at its addresses. */
    UNREACHABLE,
    /** The server did not prove its name, or speaks no TLS. */
    UNVERIFIED,
    /** The time was over. */
    TIMED_OUT,
    /** The connection ended before the whole answer. */
    BROKEN_OFF,
    /** The answer does not follow RFC 9112. */
    MALFORMED,
    /** The content is larger than asked for. */
    TOO_LARGE
  }

  /** There is no whole answer. */
  public static final class NoAnswer extends Exception {
    private static final long serialVersionUID = 1L;

    private final Why why;
    private final boolean sent;
    private final int status;

    NoAnswer(Why why, boolean sent, int status, String message) {
      super(message);
      this.why = why;
      this.sent = sent;
      this.status = status;
    }

    public Why why() {
      return why;
    }

    /** Whether some of the request may have reached the server. */
    public boolean sent() {
      return sent;
    }

    /** The status of the answer that is not whole; 0 where there was none. */
    public int status() {
      return status;
    }
  }

  /** How far an exchange is. */
  static final class Progress {
    private boolean sent;
    private int status;
    private volatile boolean late;

    int status() {
      return status;
    }

    NoAnswer no(Why why, String message) {
      return late
          ? new NoAnswer(Why.TIMED_OUT, sent, status, "no whole answer in time")
          : new NoAnswer(why, sent, status, message);
    }
  }

  /**
   * Sends a request and reads its answer.
   *
   * @param within for all of it
   * @param most bytes of the answer's content
   * @throws NoAnswer where there is no whole answer; the message names no header value
   */
  public Received send(Sent request, Duration within, long most) throws NoAnswer {
    try (EgressAnswer answer = open(request, within)) {
      return new Received(answer.status(), answer.address(), answer.fields(), answer.all(most));
    }
  }

  /**
   * Sends a request and reads the head of its answer; the content is read by the caller, who closes
   * the answer.
   *
   * @param within for all of it, the content included
   * @throws NoAnswer where no head came; the message names no header value
   */
  public EgressAnswer open(Sent request, Duration within) throws NoAnswer {
    Progress progress = new Progress();
    EgressRule rule = request.rule();
    long end = System.nanoTime() + within.toNanos();
    SocketChannel channel = connect(rule, progress, end);
    Thread watch = watch(channel, progress, end);
    boolean opened = false;
    try {
      String address =
          ((InetSocketAddress) channel.getRemoteAddress()).getAddress().getHostAddress();
      Peer origin = Peer.of(channel);
      if (request.secure()) {
        origin = secured(origin, rule, progress);
      }
      HttpHead head = ask(origin, request, progress);
      Framing framing = Framing.ofResponse(head, progress.status, request.method());
      opened = true;
      return new EgressAnswer(
          progress,
          address,
          head.fields().stream().map(f -> new Field(f.name(), f.value())).toList(),
          framing,
          new ContentInput(origin.in(), framing),
          () -> end(watch, channel));
    } catch (IOException e) {
      throw failed(e, progress);
    } finally {
      if (!opened) {
        end(watch, channel);
      }
    }
  }

  private void end(Thread watch, SocketChannel channel) {
    watch.interrupt();
    drop(channel);
  }

  static NoAnswer failed(IOException e, Progress progress) {
    return e instanceof Malformed
        ? progress.no(Why.MALFORMED, "the answer is malformed: " + e.getMessage())
        : progress.no(
            Why.BROKEN_OFF,
            progress.status == 0
                ? "the connection ended without an answer"
                : "the connection ended within the answer");
  }

  private SocketChannel connect(EgressRule rule, Progress progress, long end) throws NoAnswer {
    List<InetAddress> addresses = resolve(rule.host(), progress, end);
    if (!rule.privateAddresses() && !addresses.stream().allMatch(Addresses::isPublic)) {
      throw progress.no(Why.DENIED, "the name leads to an address that is not public");
    }
    for (InetAddress address : addresses) {
      SocketChannel channel = null;
      try {
        channel = SocketChannel.open();
        channels.add(channel);
        if (closed) {
          throw new IOException("closed");
        }
        long left = (end - System.nanoTime()) / 1_000_000;
        if (left <= 0) {
          progress.late = true;
          throw progress.no(Why.TIMED_OUT, "");
        }
        channel
            .socket()
            .connect(new InetSocketAddress(address, rule.port()), (int) Math.min(left, CONNECT_MS));
        return channel;
      } catch (IOException e) {
        drop(channel);
      } catch (NoAnswer e) {
        drop(channel);
        throw e;
      }
    }
    throw progress.no(Why.UNREACHABLE, "nobody answers there");
  }

  /** The system's resolver knows no limit of time, so that it is waited for beside it. */
  private List<InetAddress> resolve(String host, Progress progress, long end) throws NoAnswer {
    CompletableFuture<List<InetAddress>> found = new CompletableFuture<>();
    Thread.ofVirtual()
        .start(() -> {
          try {
            found.complete(List.copyOf(resolver.resolve(host)));
          } catch (UnknownHostException | RuntimeException e) {
            found.completeExceptionally(e);
          }
        });
    try {
      return found.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
    } catch (TimeoutException e) {
      progress.late = true;
      throw progress.no(Why.TIMED_OUT, "");
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw progress.no(Why.UNREACHABLE, "interrupted");
    } catch (ExecutionException e) {
      throw progress.no(Why.UNREACHABLE, "the name is unknown");
    }
  }

  /** Ends the connection when the time is over. */
  private static Thread watch(SocketChannel channel, Progress progress, long end) {
    return Thread.ofVirtual()
        .start(() -> {
          try {
            Thread.sleep(Duration.ofNanos(Math.max(0, end - System.nanoTime())));
            progress.late = true;
            channel.close();
          } catch (InterruptedException | IOException e) {
            // It ended in time, or is gone.
          }
        });
  }

  private Peer secured(Peer origin, EgressRule rule, Progress progress) throws NoAnswer {
    try {
      return OriginTls.over(tls.get(), origin, rule.host(), rule.port());
    } catch (IOException | WritException e) {
      throw progress.no(Why.UNVERIFIED, "the server cannot be verified");
    }
  }

  /** Sends the request, and reads up to the head of its final answer. */
  private static HttpHead ask(Peer origin, Sent request, Progress progress) throws IOException {
    byte[] head = head(request);
    byte[] content = request.content().orElse(new byte[0]);
    progress.sent = true;
    IOException refused = null;
    try {
      origin.out().write(head);
      origin.out().write(content);
      origin.out().flush();
    } catch (IOException e) {
      refused = e; // a server may answer before it has read everything
    }
    try {
      return finalHead(origin, progress);
    } catch (IOException e) {
      if (refused != null && !(e instanceof Malformed)) {
        e.addSuppressed(refused);
      }
      throw e;
    }
  }

  private static byte[] head(Sent request) {
    List<String> lines = new ArrayList<>();
    lines.add(request.method() + " " + request.target() + " HTTP/1.1");
    lines.add("Host: " + request.host());
    request.fields().forEach(f -> lines.add(f.name() + ": " + f.value()));
    request.content().ifPresent(bytes -> lines.add("Content-Length: " + bytes.length));
    lines.add("Connection: close");
    return (String.join("\r\n", lines) + "\r\n\r\n").getBytes(StandardCharsets.US_ASCII);
  }

  private static HttpHead finalHead(Peer origin, Progress progress) throws IOException {
    for (int interim = 0; interim <= MOST_INTERIM; interim++) {
      HttpHead head = HttpHead.read(origin.in(), MOST_HEAD);
      if (!head.first().matches("HTTP/1\\.[01] [1-5][0-9][0-9]( .*)?")) {
        throw new Malformed("the status line");
      }
      int status = Integer.parseInt(head.first().substring(9, 12));
      if (status >= 200) {
        progress.status = status;
        return head;
      }
      if (status == 101) {
        break;
      }
    }
    throw new Malformed("an interim answer that was not asked for");
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

  /** Ends every exchange; afterwards nothing is sent. */
  @Override
  public void close() {
    closed = true;
    channels.forEach(this::drop);
  }
}
