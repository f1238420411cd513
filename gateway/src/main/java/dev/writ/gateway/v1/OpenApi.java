package dev.writ.gateway.v1;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.gateway.http.Route;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;

/** The OpenAPI document, with the routes of the surfaces that this server has, and no others. */
final class OpenApi {
  private OpenApi() {}

  /**
   * @param served the routes of the server; operations that the server does not have are left out
   *     of the document
   */
  static byte[] of(List<Route> served) {
    Set<String> operations =
        served.stream()
            .map(route -> route.method() + " " + route.path())
            .collect(Collectors.toSet());
    ObjectBuilder document = JsonValue.object();
    whole()
        .members()
        .forEach((name, value) ->
            document.put(
                name, name.equals("paths") ? only(operations, (JsonValue.Obj) value) : value));
    return Jcs.write(document.build());
  }

  private static JsonValue.Obj only(Set<String> served, JsonValue.Obj paths) {
    ObjectBuilder kept = JsonValue.object();
    paths
        .members()
        .forEach((path, item) -> {
          ObjectBuilder operations = JsonValue.object();
          ((JsonValue.Obj) item)
              .members()
              .forEach((method, operation) -> {
                if (served.contains(method.toUpperCase(Locale.ROOT) + " " + path)) {
                  operations.put(method, operation);
                }
              });
          JsonValue.Obj those = operations.build();
          if (!those.members().isEmpty()) {
            kept.put(path, those);
          }
        });
    return kept.build();
  }

  private static JsonValue.Obj whole() {
    try (InputStream in = OpenApi.class.getResourceAsStream("openapi.json")) {
      return (JsonValue.Obj) Jcs.parse(Objects.requireNonNull(in).readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
