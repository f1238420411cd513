package dev.writ.tools.git;

import dev.writ.canonicalize.WritException;
import dev.writ.guardian.policy.rule.NetworkPlace;
import dev.writ.tools.error.ToolsError;
import java.util.List;

/**
 * The address of a repository: {@code https://host[:port]/path}, and none of git's other forms. The
 * path is plain, so that git, the proxy and the server read it alike.
 *
 * @param host in lower case
 * @param path begins with {@code /}, without one at its end
 */
record RemoteUrl(String host, int port, String path) {
  private static final int MOST = 2_000;

  /**
   * @throws WritException {@code TOL-070}
   */
  static RemoteUrl parse(String text) {
    if (text.length() > MOST || !text.startsWith("https://")) {
      throw refused("it does not begin with https://, or is too long");
    }
    NetworkPlace place =
        NetworkPlace.parse(text).orElseThrow(() -> refused("it has user information or no host"));
    int slash = text.indexOf('/', "https://".length());
    String path = slash < 0 ? "" : text.substring(slash);
    if (place.host().startsWith("[")) {
      throw refused("the host is a bare address of version 6");
    }
    // Percent-encoding is refused, except for the space, which a large hosting service uses in
    // paths.
    boolean plain = path.matches("(?:/(?:[A-Za-z0-9._~+@-]|%20)++)++");
    boolean dots = List.of(path.split("/")).stream().anyMatch(p -> p.equals(".") || p.equals(".."));
    if (!plain || dots) {
      throw refused("its path is not plain names");
    }
    return new RemoteUrl(place.host(), place.port(), path);
  }

  private static WritException refused(String why) {
    return new WritException(ToolsError.GIT_URL, why);
  }

  /** The URL that git gets and stores. */
  String text() {
    return "https://" + host + (port == 443 ? "" : ":" + port) + path;
  }

  /** The prefix by which git asks the proxy instead. */
  String inside() {
    return "http://" + host + ":" + port + "/";
  }

  /** The prefix that git replaces by {@link #inside}. */
  String outside() {
    return "https://" + host + (port == 443 ? "" : ":" + port) + "/";
  }
}
