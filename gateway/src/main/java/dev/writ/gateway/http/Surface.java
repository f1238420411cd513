package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import java.util.List;
import java.util.Optional;

/**
 * One way to ask for effects over HTTP: turns its own request into ours and our outcome into its
 * own response. It holds no policy.
 */
public interface Surface {

  /** Its name, which is also the subject of its surface keys and stands in requests' origin. */
  String name();

  /** What it answers to, tried in this order. */
  List<Route> routes();

  /**
   * How it says that the server refused a call before the surface saw it (too large, too many,
   * draining), where its clients know no problem+json.
   *
   * @param status the HTTP status that the answer will have
   */
  default Optional<HttpAnswer> refusal(int status, WritException refused) {
    return Optional.empty();
  }
}
