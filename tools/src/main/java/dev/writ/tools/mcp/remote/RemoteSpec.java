package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.tools.error.ToolsError;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Where a server elsewhere is, and what it is sent along: a part of {@code server.json}.
 *
 * @param headers by their names in lower case
 */
public record RemoteSpec(WebAddress url, SortedMap<String, HeaderValue> headers) {
  private static final int HEADERS_MAX = 32;

  /**
   * @throws WritException {@code TOL-276}, {@code TOL-277}
   */
  public RemoteSpec {
    headers = Collections.unmodifiableSortedMap(new TreeMap<>(headers));
    if (!url.secure() && !url.isLoopback()) {
      throw new WritException(
          ToolsError.UPSTREAM_URL, url.origin() + " is not https, and not this machine");
    }
    headers.keySet().forEach(HeaderValue::requireName);
    if (headers.size() > HEADERS_MAX) {
      throw new WritException(ToolsError.UPSTREAM_HEADER, "more than " + HEADERS_MAX);
    }
  }

  /**
   * @throws WritException {@code TOL-276}
   */
  public static WebAddress requireUrl(String text) {
    return WebAddress.parse(text)
        .orElseThrow(() ->
            new WritException(
                ToolsError.UPSTREAM_URL,
                "a text of " + text.length() + " characters is no http(s)://host[:port]/path"));
  }

  /** Reads the members {@code url} and {@code headers}. */
  public static RemoteSpec parse(String url, JsonValue.Obj headers) {
    TreeMap<String, HeaderValue> read = new TreeMap<>();
    headers
        .members()
        .forEach((name, value) ->
            read.put(HeaderValue.requireName(name), HeaderValue.parse("headers/" + name, value)));
    return new RemoteSpec(requireUrl(url), read);
  }

  /** Adds its members to those of {@code server.json}. */
  public void write(ObjectBuilder json) {
    var object = JsonValue.object();
    headers.forEach((name, value) -> object.put(name, value.toJson()));
    json.put("url", url.text()).put("headers", object.build());
  }

  /** The places {@code host:port} that it connects to, sorted. */
  public List<String> places() {
    return List.of(url.place());
  }

  /** The names of its secrets, sorted. */
  public List<String> secretNames() {
    TreeSet<String> names = new TreeSet<>();
    headers.values().forEach(value -> value.secret().ifPresent(names::add));
    return List.copyOf(names);
  }
}
