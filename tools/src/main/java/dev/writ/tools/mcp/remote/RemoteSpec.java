package dev.writ.tools.mcp.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.oauth.OauthSpec;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Where a server elsewhere is, and what it is sent along: a part of {@code server.json}.
 *
 * @param headers by their names in lower case
 * @param oauth who gives tokens for it
 */
public record RemoteSpec(
    WebAddress url, SortedMap<String, HeaderValue> headers, Optional<OauthSpec> oauth) {
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
    if (oauth.isPresent() && headers.containsKey("authorization")) {
      throw new WritException(
          ToolsError.UPSTREAM_HEADER, "authorization stands there, and a login gives it, too");
    }
    oauth.ifPresent(o -> requireUrl(o.tokenEndpoint()));
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

  public RemoteSpec(WebAddress url, SortedMap<String, HeaderValue> headers) {
    this(url, headers, Optional.empty());
  }

  /** The same with tokens. */
  public RemoteSpec with(OauthSpec spec) {
    return new RemoteSpec(url, headers, Optional.of(spec));
  }

  /** Reads the members {@code url}, {@code headers} and {@code oauth}. */
  public static RemoteSpec parse(Fields fields) {
    String url = fields.string("url");
    JsonValue.Obj headers = fields.obj("headers");
    TreeMap<String, HeaderValue> read = new TreeMap<>();
    headers
        .members()
        .forEach((name, value) ->
            read.put(HeaderValue.requireName(name), HeaderValue.parse("headers/" + name, value)));
    return new RemoteSpec(
        requireUrl(url),
        read,
        fields.optional("oauth", key -> OauthSpec.parse(fields.fields(key))));
  }

  /** Adds its members to those of {@code server.json}. */
  public void write(ObjectBuilder json) {
    var object = JsonValue.object();
    headers.forEach((name, value) -> object.put(name, value.toJson()));
    json.put("url", url.text()).put("headers", object.build());
    oauth.ifPresent(o -> json.put("oauth", o.toJson()));
  }

  /** The places {@code host:port} that it connects to, sorted. */
  public List<String> places() {
    TreeSet<String> places = new TreeSet<>(List.of(url.place()));
    oauth.ifPresent(o -> places.add(requireUrl(o.tokenEndpoint()).place()));
    return List.copyOf(places);
  }

  /** The names of its secrets, sorted. */
  public List<String> secretNames() {
    TreeSet<String> names = new TreeSet<>();
    headers.values().forEach(value -> value.secret().ifPresent(names::add));
    oauth.ifPresent(o -> {
      names.add(o.tokens());
      o.clientSecret().ifPresent(names::add);
    });
    return List.copyOf(names);
  }
}
