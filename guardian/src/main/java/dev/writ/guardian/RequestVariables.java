package dev.writ.guardian;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.guardian.policy.cel.CelVariables;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The variables of CEL expressions, each converted when it is first used. Numbers without a
 * fraction are ints, others doubles. The request's {@code context} is not among them, since no
 * decision may depend on it.
 */
final class RequestVariables implements CelVariables {
  private final Matter matter;
  private final TreeMap<String, Optional<Object>> known = new TreeMap<>();

  RequestVariables(Matter matter) {
    this.matter = matter;
  }

  @Override
  public Optional<Object> resolve(String name) {
    return known.computeIfAbsent(name, this::make);
  }

  private Optional<Object> make(String name) {
    return Optional.ofNullable(
        switch (name) {
          case "effect" -> plain(matter.effect().toJson());
          case "params" -> plain(matter.effect().params());
          case "inputs" -> member(matter.effect().toJson(), "inputs");
          case "request" -> request();
          case "tenant" -> matter.scope().tenant();
          case "run" -> matter.scope().run();
          case "subject" -> matter.scope().subject();
          case "roles" -> matter.roles();
          case "time" -> matter.inputs().time();
          case "artifacts" -> member(matter.inputs().toJson(), "artifacts");
          case "evidence" -> texts(matter.request().evidence());
          case "consumes" -> texts(matter.request().consumes());
          default -> null;
        });
  }

  private Object request() {
    var request =
        JsonValue.object()
            .put("id", matter.admitted().id())
            .put("holder", matter.admitted().holder().kid())
            .put("nonce", matter.request().nonce())
            .put("requested_at", Timestamps.format(matter.request().requestedAt()))
            .put("retention", matter.request().retention())
            .putList("charged", matter.inputs().charged(), JsonValue::of)
            .putIfPresent("idempotency_key", matter.request().idempotencyKey(), JsonValue::of)
            .build();
    Map<String, Object> map = new TreeMap<>(object(request));
    if (matter.request().toJson().get("origin") instanceof JsonValue.Obj origin) {
      map.put("origin", object(origin));
    }
    return map;
  }

  private static List<String> texts(List<Digest> digests) {
    return digests.stream().map(Digest::toString).toList();
  }

  private static Object member(JsonValue.Obj object, String key) {
    return plain(object.get(key));
  }

  private static Map<String, Object> object(JsonValue.Obj object) {
    TreeMap<String, Object> map = new TreeMap<>();
    object.members().forEach((key, value) -> map.put(key, plain(value)));
    return map;
  }

  private static Object plain(JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object -> object(object);
      case JsonValue.Arr array -> {
        List<Object> list = new ArrayList<>(array.items().size());
        array.items().forEach(item -> list.add(plain(item)));
        yield list;
      }
      case JsonValue.Str text -> text.value();
      case JsonValue.Num number ->
          number.isInteger() ? (Object) (long) number.value() : (Object) number.value();
      case JsonValue.Bool bool -> bool.value();
      case JsonValue.Null _ -> dev.cel.common.values.NullValue.NULL_VALUE;
    };
  }
}
