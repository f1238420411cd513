package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.limit.HttpAdmission;
import dev.writ.gateway.http.limit.TrustedProxies;
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.TraceContext;
import java.net.SocketAddress;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** One call of another protocol: its caller, what it holds, and what observers are told of it. */
public final class IngressCall implements AutoCloseable {
  private final ServerParts parts;
  private final IngressPolicy doors;
  private final Connections.Use connection;
  private final String surface;
  private final String method;
  private final String route;
  private final Headers headers;
  private final List<X509Certificate> chain;
  private final String remote;
  private final HttpAdmission admission;
  private final TraceContext trace;
  private final Instant receivedAt;
  private final long begin = System.nanoTime();
  private long expected;
  private volatile Optional<Caller> caller = Optional.empty();

  IngressCall(
      ServerParts parts,
      Connections.Use connection,
      String surface,
      String method,
      String route,
      Headers headers,
      List<X509Certificate> chain,
      SocketAddress remote) {
    this.parts = parts;
    this.doors = parts.doors().get();
    this.connection = connection;
    this.surface = surface;
    this.method = method;
    this.route = route;
    this.headers = headers;
    this.chain = List.copyOf(chain);
    this.remote =
        parts
            .limits()
            .proxies()
            .caller(Connections.address(remote), headers.all(TrustedProxies.FORWARDED_FOR));
    this.admission = new HttpAdmission(parts.places(), () -> {});
    this.trace = parts.trace(headers);
    this.receivedAt = parts.clock().instant();
  }

  /**
   * Authenticates the caller and takes a place. To be called before anything of the call's content
   * is kept.
   *
   * @throws WritException {@code GWY-013}, {@code GWY-020}, {@code GWY-034}; as {@link
   *     HttpAdmission#admit}
   */
  public void admit() {
    parts.hosts().require(headers);
    requireTrusted(doors);
    Caller who =
        doors.authentication().caller("POST", headers, chain.stream().findFirst(), receivedAt);
    caller = Optional.of(who);
    admission.admit(who.tenant(), who.credential());
    connection.known(who);
  }

  /**
   * For a call that needs no authentication.
   *
   * @throws WritException {@code GWY-034}
   */
  public void open() {
    parts.hosts().require(headers);
    parts.places().open(admission, remote);
  }

  /** The connection may be older than the authority of clients that is in force. */
  private void requireTrusted(IngressPolicy by) {
    if (by.trust().clients().isEmpty()) {
      return;
    }
    if (chain.isEmpty()) {
      if (by.required()) {
        throw new WritException(GatewayError.NOT_AUTHENTICATED, "no client certificate");
      }
      return;
    }
    try {
      by.trust()
          .clients()
          .get()
          .checkClientTrusted(
              chain.toArray(X509Certificate[]::new),
              chain.getFirst().getPublicKey().getAlgorithm());
    } catch (CertificateException e) {
      throw new WritException(
          GatewayError.NOT_AUTHENTICATED,
          "the client certificate is of no authority that is known now",
          e);
    }
  }

  /** The caller that {@link #admit} found. */
  public Caller caller() {
    return caller.orElseThrow();
  }

  /** Whether it would be let in now as it was when {@link #admit} found it. */
  public boolean isLetIn() {
    IngressPolicy now = parts.doors().get();
    try {
      requireTrusted(now);
    } catch (WritException e) {
      return false;
    }
    return now.authentication().keeps(caller(), parts.clock().instant());
  }

  public TraceContext trace() {
    return trace;
  }

  /** The address of the host that the call comes from. */
  public String remote() {
    return remote;
  }

  /**
   * Takes the memory for content that is still to arrive.
   *
   * @param bytesMax its length at most
   * @throws WritException {@code GWY-038}, {@code GWY-047}
   */
  public synchronized void expect(long bytesMax) {
    admission.reserve(bytesMax);
    expected = bytesMax;
  }

  /** The content has arrived, or is no longer waited for. */
  public synchronized void arrived() {
    admission.giveBack(expected);
    expected = 0;
  }

  /**
   * Takes the memory that handling a JSON document needs.
   *
   * @throws WritException {@code GWY-038}, {@code GWY-047}
   */
  public void weigh(byte[] json) {
    admission.weigh(json);
  }

  /**
   * Exchanges its place for one of streams.
   *
   * @throws WritException {@code GWY-039}, {@code GWY-042}
   */
  public void stream() {
    admission.stream();
  }

  /** The work begins on this thread; {@link #finished} is called on the same one. */
  public void begun() {
    parts.observer().begun(trace);
  }

  /** Frees the place; to be called before the answer is sent. */
  public void answered() {
    admission.answered();
  }

  /** A refusal for an unexpected failure, which is logged under the call's trace. */
  public WritException unforeseen(Throwable failure) {
    parts.failures().accept(trace, failure);
    return new WritException(GatewayError.INTERNAL, "", failure);
  }

  /**
   * Tells the observers how it ended.
   *
   * @param status the HTTP status of such an outcome
   * @param bytes length of the answer; negative for a stream
   */
  public void finished(
      int status,
      Optional<String> code,
      long bytes,
      Optional<String> request,
      Optional<String> receipt) {
    parts
        .observer()
        .finished(
            new Observer.Finished(
                surface,
                method,
                route,
                status,
                code,
                begin,
                System.nanoTime(),
                bytes,
                remote,
                caller,
                trace,
                request,
                receipt,
                List.of()));
  }

  /** Frees all that it holds. */
  @Override
  public void close() {
    admission.close();
    connection.close();
  }
}
