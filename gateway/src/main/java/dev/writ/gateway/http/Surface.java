package dev.writ.gateway.http;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.message.HttpAnswer;
import dev.writ.guardian.document.Request;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * One way to call the server over HTTP: translates its requests into ours, and our outcomes into
 * its responses. It decides nothing.
 */
public interface Surface {

  /** Its name, which is also the subject of its keys and stands in the origin of requests. */
  String name();

  /** Its routes, tried in this order. */
  List<Route> routes();

  /**
   * Names by which the surface's callers know an effect, for the server's log: ids, no payload.
   *
   * @param id of the request
   */
  default SortedMap<String, String> namesOf(Digest id, Request request) {
    return new TreeMap<>();
  }

  /**
   * Starts what the surface serves in another protocol, on a port of its own. Called once the HTTP
   * server listens.
   *
   * @return where it listens; empty for a surface that is HTTP alone
   * @throws WritException {@code GWY-004}
   */
  default Optional<String> listen(Ingress ingress) {
    return Optional.empty();
  }

  /** The server takes no new calls: what waits for events is to end now. */
  default void drains() {}

  /** Ends what {@link #listen} started. Called after calls at work have ended. */
  default void close() {}

  /**
   * Its own answer to a call that the server refused before the surface got it (too large, too
   * many, draining); empty for problem+json.
   *
   * @param status the HTTP status of the answer
   */
  default Optional<HttpAnswer> refusal(int status, WritException refused) {
    return Optional.empty();
  }
}
