package dev.writ.canonicalize.json;

import dev.writ.canonicalize.Digest;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Function;

/** Builds a {@link JsonValue.Obj}; a key put twice is a mistake of ours and throws. */
public final class ObjectBuilder {
  private final TreeMap<String, JsonValue> members = new TreeMap<>();

  ObjectBuilder() {}

  public ObjectBuilder put(String key, JsonValue value) {
    if (members.putIfAbsent(key, value) != null) {
      throw new IllegalStateException("put twice: " + key);
    }
    return this;
  }

  public ObjectBuilder put(String key, String value) {
    return put(key, JsonValue.of(value));
  }

  public ObjectBuilder put(String key, long value) {
    return put(key, JsonValue.of(value));
  }

  public ObjectBuilder put(String key, boolean value) {
    return put(key, JsonValue.of(value));
  }

  public ObjectBuilder put(String key, Digest value) {
    return put(key, value.toString());
  }

  /** A time, as {@link Timestamps} writes it. */
  public ObjectBuilder put(String key, Instant value) {
    return put(key, Timestamps.format(value));
  }

  /** Puts the member only where there is a value: our documents leave out what is absent. */
  public <T> ObjectBuilder putIfPresent(
      String key, Optional<T> value, Function<? super T, ? extends JsonValue> toJson) {
    value.ifPresent(v -> put(key, toJson.apply(v)));
    return this;
  }

  public <T> ObjectBuilder putList(
      String key, List<T> values, Function<? super T, ? extends JsonValue> toJson) {
    return put(key, new JsonValue.Arr(values.stream().<JsonValue>map(toJson).toList()));
  }

  public JsonValue.Obj build() {
    return new JsonValue.Obj(members);
  }
}
