package dev.writ.gateway.config;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.Located;
import dev.writ.guardian.yaml.Section;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The configuration of one sink.
 *
 * @param kind for example {@code redis}
 * @param tenant the tenant whose records it gets; absent for all
 * @param secret a file
 * @param settings all others, which the kind interprets
 */
public record SinkConfig(
    String kind,
    Optional<String> tenant,
    Optional<String> secret,
    SortedMap<String, String> settings) {

  static SinkConfig read(Section s) {
    String kind = s.name("kind");
    Optional<String> tenant = s.optional("tenant", s::name);
    Optional<String> secret = s.optional("secret", s::name);
    TreeMap<String, String> settings = new TreeMap<>();
    for (String key : s.keys()) {
      if (!List.of("kind", "tenant", "secret").contains(key)) {
        settings.put(key, setting(s, key));
      }
    }
    s.end();
    return new SinkConfig(kind, tenant, secret, settings);
  }

  private static String setting(Section s, String key) {
    JsonValue value =
        s.value(key) instanceof Located.Scalar scalar ? scalar.value() : JsonValue.NULL;
    return switch (value) {
      case JsonValue.Num _ -> String.valueOf(s.count(key));
      case JsonValue.Bool _ -> String.valueOf(s.bool(key));
      default -> s.name(key);
    };
  }
}
