package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.Headers;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/** Finds the route of a call, and reads its address. */
public final class Router {
  /** A route, its surface, and the values of its path parameters in this call. */
  record Found(Surface surface, Route route, SortedMap<String, String> values) {}

  /** Addresses that answer only where the configuration has their surface. */
  private static final Map<String, String> OF_SURFACES =
      new TreeMap<>(
          Map.of(
              "/execute", "execute or logline",
              "/mcp", "mcp",
              "/v1/tool-executions", "engine",
              "/v1/tools/exec", "tools",
              "/v1/vouched-effects", "vouched"));

  /** Where the paths of the native API begin, which each client adds to its server's address. */
  private static final String NATIVE = "/v1/";

  private final List<Surface> surfaces;

  public Router(List<Surface> surfaces) {
    this.surfaces = List.copyOf(surfaces);
  }

  /**
   * @throws WritException {@code GWY-011}, {@code GWY-012}
   */
  Found find(String method, String path, Headers headers) {
    List<String> segments = segments(path);
    TreeSet<String> methods = new TreeSet<>();
    for (Surface surface : surfaces) {
      for (Route route : surface.routes()) {
        Optional<SortedMap<String, String>> values = route.match(segments);
        if (values.isEmpty() || !route.when().test(headers)) {
          continue;
        }
        if (route.method().equals(method)
            || method.equals("HEAD") && route.method().equals("GET")) {
          return new Found(surface, route, values.get());
        }
        methods.add(route.method());
      }
    }
    if (methods.isEmpty()) {
      throw new WritException(GatewayError.NO_ROUTE, unserved(path));
    }
    throw new WritException(GatewayError.METHOD, "the path takes " + String.join(", ", methods));
  }

  /**
   * Of a surface's address it is said that the surface is missing, and not the address, and of the
   * native API's below another one that a client's address is too long.
   */
  private String unserved(String path) {
    if (path.indexOf(NATIVE, 1) > 0) {
      return "the paths here begin with /v1/: a client's address ends before that";
    }
    return OF_SURFACES.entrySet().stream()
        .filter(e -> isBelow(e.getKey(), path))
        .filter(e -> !isServed(e.getKey()))
        .map(e ->
            e.getKey()
                + " is of the surface "
                + e.getValue()
                + ", which the configuration does not have (surfaces)")
        .findFirst()
        .orElse("");
  }

  private boolean isServed(String path) {
    return surfaces.stream()
        .flatMap(surface -> surface.routes().stream())
        .anyMatch(route -> isBelow(path, route.path()));
  }

  private static boolean isBelow(String address, String path) {
    return path.equals(address) || path.startsWith(address + "/");
  }

  private static List<String> segments(String path) {
    if (!path.startsWith("/")) {
      throw new WritException(GatewayError.NO_ROUTE, "");
    }
    return Route.segments(path).stream().map(Router::decoded).toList();
  }

  /**
   * A query in its parts. A name without a value has the empty one.
   *
   * @throws WritException {@code GWY-010} for what is not percent-encoded UTF-8
   */
  static SortedMap<String, List<String>> query(String query) {
    TreeMap<String, List<String>> values = new TreeMap<>();
    if (query != null && !query.isEmpty()) {
      for (String pair : query.split("&", -1)) {
        String[] parts = pair.split("=", 2);
        values
            .computeIfAbsent(decoded(parts[0]), _ -> new ArrayList<>())
            .add(parts.length == 2 ? decoded(parts[1]) : "");
      }
    }
    return values;
  }

  /** Percent-decoded, strictly UTF-8; a plus is a plus. */
  static String decoded(String text) {
    if (text.indexOf('%') < 0) {
      return text;
    }
    ByteBuffer bytes = ByteBuffer.allocate(text.length() * 4);
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '%') {
        int high = i + 2 < text.length() ? Character.digit(text.charAt(i + 1), 16) : -1;
        int low = i + 2 < text.length() ? Character.digit(text.charAt(i + 2), 16) : -1;
        if (high < 0 || low < 0) {
          throw malformed();
        }
        bytes.put((byte) (high * 16 + low));
        i += 2;
      } else {
        bytes.put(String.valueOf(c).getBytes(StandardCharsets.UTF_8));
      }
    }
    try {
      return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
    } catch (CharacterCodingException e) {
      throw malformed();
    }
  }

  private static WritException malformed() {
    return new WritException(
        GatewayError.REQUEST_MALFORMED, "the address is not percent-encoded UTF-8");
  }
}
