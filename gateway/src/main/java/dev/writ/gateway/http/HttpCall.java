package dev.writ.gateway.http;

import dev.writ.canonicalize.Digest;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.limit.HttpAdmission;
import dev.writ.gateway.http.message.Headers;
import dev.writ.gateway.http.message.TraceContext;
import java.io.InputStream;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * One call as a handler sees it: within all limits, and authenticated where its route asks for it.
 *
 * @param path the raw path, percent-encoded as it came, without query
 * @param pathValues the segments that the route names, decoded
 * @param query decoded, in the order they came for each name
 * @param body the whole body; empty for routes without or with a streamed one
 * @param stream the body of a route that streams it
 * @param remote the address that it came from, without port
 * @param admission the place and memory that the call holds
 * @param receivedAt by the server's clock, when the head had been read
 * @param trace of the caller (W3C trace context), or a new one
 */
public record HttpCall(
    String method,
    String path,
    SortedMap<String, String> pathValues,
    SortedMap<String, List<String>> query,
    Headers headers,
    byte[] body,
    Optional<InputStream> stream,
    String remote,
    Optional<Caller> authenticated,
    HttpAdmission admission,
    Instant receivedAt,
    TraceContext trace) {

  /** The authenticated caller of a route with {@link Route.Access#CALLER}. */
  public Caller caller() {
    return authenticated.orElseThrow();
  }

  /** A segment that the route's path names. */
  public String value(String name) {
    return pathValues.get(name);
  }

  /** Digest of the raw body: what {@code origin.raw} of a vouched request states. */
  public Digest rawDigest() {
    return Digest.sha256(body);
  }
}
