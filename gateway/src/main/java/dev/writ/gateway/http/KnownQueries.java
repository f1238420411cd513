package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.error.GatewayError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Which parameters an address may have: those that the API's document names for its route. A typing
 * error must not select everything. Routes that the document does not have say it themselves.
 */
final class KnownQueries {
  private static final String DOCUMENT = "/dev/writ/gateway/v1/openapi.json";
  private static final int SHOWN_MAX = 60;

  /** By method and path, as routes have them. */
  private static final SortedMap<String, Set<String>> BY_ROUTE = read();

  private KnownQueries() {}

  /**
   * @throws WritException {@code GWY-018}
   */
  static void require(Route route, SortedMap<String, List<String>> query) {
    if (query.isEmpty()) {
      return;
    }
    Set<String> known = BY_ROUTE.get(route.method() + " " + route.path());
    if (known == null) {
      return;
    }
    query.keySet().stream()
        .filter(name -> !known.contains(name))
        .findFirst()
        .ifPresent(name -> {
          String shown = name.length() > SHOWN_MAX ? name.substring(0, SHOWN_MAX) + "…" : name;
          throw new WritException(
              GatewayError.PARAMETER,
              shown
                  + (known.isEmpty() ? " stands where none is taken" : " is not one of " + known));
        });
  }

  private static SortedMap<String, Set<String>> read() {
    TreeMap<String, Set<String>> all = new TreeMap<>();
    try (InputStream in = KnownQueries.class.getResourceAsStream(DOCUMENT)) {
      JsonValue.Obj document = (JsonValue.Obj) Jcs.parse(Objects.requireNonNull(in).readAllBytes());
      ((JsonValue.Obj) document.get("paths"))
          .members()
          .forEach((path, item) ->
              ((JsonValue.Obj) item)
                  .members()
                  .forEach((method, operation) ->
                      all.put(
                          method.toUpperCase(Locale.ROOT) + " " + path,
                          queries(path, (JsonValue.Obj) operation))));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return all;
  }

  private static Set<String> queries(String path, JsonValue.Obj operation) {
    Set<String> names = new TreeSet<>();
    if (path.contains("{run}")) {
      names.add("run"); // of a run whose name no path can have
    }
    if (operation.get("parameters") instanceof JsonValue.Arr parameters) {
      for (JsonValue parameter : parameters.items()) {
        JsonValue.Obj one = (JsonValue.Obj) parameter;
        if (JsonValue.of("query").equals(one.get("in"))) {
          names.add(((JsonValue.Str) one.get("name")).value());
        }
      }
    }
    return names;
  }
}
