package dev.writ.tools.http.call;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.egress.EgressClient.Field;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.http.HttpOperation;
import dev.writ.tools.http.HttpOperation.Body;
import dev.writ.tools.http.HttpOperation.In;
import dev.writ.tools.http.HttpOperation.Parameter;
import dev.writ.tools.http.PathTemplate;
import dev.writ.tools.http.Server;
import dev.writ.tools.http.ToolHeaders;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The parts of a request that come from the effect's params: no credential is among them, so that
 * they are the same wherever the request goes.
 *
 * @param path below the server, with its base
 * @param query encoded {@code name=value} pairs
 */
record RequestParts(String path, List<String> query, List<Field> fields, Optional<byte[]> content) {
  private static final int TARGET_CHARS_MAX = 8_000;

  /**
   * @throws WritException {@code TOL-252} for a value that cannot stand where it belongs
   */
  static RequestParts of(Server server, HttpOperation operation, JsonValue.Obj params) {
    TreeMap<String, String> places = new TreeMap<>();
    List<String> query = new ArrayList<>();
    List<Field> fields = new ArrayList<>();
    for (Parameter parameter : operation.parameters()) {
      JsonValue value = params.get(parameter.property());
      if (value != null) {
        put(parameter, value, places, query, fields);
      } else if (parameter.in() == In.PATH) {
        throw refused(parameter.property(), "it is missing");
      }
    }
    String path =
        operation
            .path()
            .fill(places)
            .orElseThrow(() -> refused("path", "a segment leaves its place with these values"));
    String whole = server.base() + path;
    long chars = whole.length() + query.stream().mapToLong(String::length).sum();
    if (chars > TARGET_CHARS_MAX) {
      throw refused("path and query", "they have more than " + TARGET_CHARS_MAX + " characters");
    }
    Optional<byte[]> content = Optional.empty();
    Optional<Body> body = operation.body();
    JsonValue sent = body.map(b -> params.get(b.property())).orElse(null);
    if (sent != null) {
      content = Optional.of(content(body.get(), sent));
      fields.add(new Field("Content-Type", body.get().mediaType()));
    } else if (List.of("POST", "PUT", "PATCH").contains(operation.method())) {
      content = Optional.of(new byte[0]);
    }
    return new RequestParts(whole, query, fields, content);
  }

  private static void put(
      Parameter parameter,
      JsonValue value,
      TreeMap<String, String> places,
      List<String> query,
      List<Field> fields) {
    String property = parameter.property();
    List<String> items = items(property, value);
    switch (parameter.in()) {
      case PATH -> {
        String joined = String.join(",", items);
        PathTemplate.refusal(joined)
            .ifPresent(why -> {
              throw refused(property, why);
            });
        places.put(parameter.name(), joined);
      }
      case QUERY -> {
        String name = PathTemplate.encoded(parameter.name());
        if (parameter.explode()) {
          items.forEach(item -> query.add(name + "=" + PathTemplate.encoded(item)));
        } else {
          query.add(
              name + "=" + String.join(",", items.stream().map(PathTemplate::encoded).toList()));
        }
      }
      case HEADER -> {
        String joined = String.join(",", items);
        if (!ToolHeaders.isValue(joined)) {
          throw refused(property, "it has characters that no header field may have");
        }
        fields.add(new Field(parameter.name(), joined));
      }
    }
  }

  private static List<String> items(String property, JsonValue value) {
    return value instanceof JsonValue.Arr list
        ? list.items().stream().map(item -> plain(property, item)).toList()
        : List.of(plain(property, value));
  }

  private static String plain(String property, JsonValue value) {
    return switch (value) {
      case JsonValue.Str text -> text.value();
      case JsonValue.Num number -> new String(Jcs.write(number), StandardCharsets.US_ASCII);
      case JsonValue.Bool bool -> Boolean.toString(bool.value());
      default -> throw refused(property, "it is neither a plain value nor a list of such");
    };
  }

  private static byte[] content(Body body, JsonValue value) {
    if (body.isJson()) {
      return Jcs.write(value);
    }
    if (body.isForm()) {
      if (!(value instanceof JsonValue.Obj form)) {
        throw refused(body.property(), "a form is an object");
      }
      List<String> pairs = new ArrayList<>();
      form.members()
          .forEach((name, member) ->
              items(body.property(), member)
                  .forEach(item ->
                      pairs.add(PathTemplate.encoded(name) + "=" + PathTemplate.encoded(item))));
      return String.join("&", pairs).getBytes(StandardCharsets.US_ASCII);
    }
    if (value instanceof JsonValue.Str text) {
      return text.value().getBytes(StandardCharsets.UTF_8);
    }
    throw refused(body.property(), "it is no text, and " + body.mediaType() + " is sent as text");
  }

  private static WritException refused(String what, String why) {
    return new WritException(ToolsError.HTTP_VALUE, what + ": " + why);
  }
}
