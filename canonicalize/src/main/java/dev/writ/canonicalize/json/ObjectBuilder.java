package dev.writ.canonicalize.json;

import dev.writ.canonicalize.Digest;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;

/** Builds a {@link JsonValue.Obj}; a key put twice is a mistake of ours and throws. */
public final class ObjectBuilder {
  private static final int MEMBERS_AT_FIRST = 8;

  /** Kept in the order of the keys, so that the object needs no map. */
  private String[] keys = new String[MEMBERS_AT_FIRST];

  private JsonValue[] values = new JsonValue[MEMBERS_AT_FIRST];
  private int size;

  ObjectBuilder() {}

  public ObjectBuilder put(String key, JsonValue value) {
    Objects.requireNonNull(value, key);
    if (size == 0 || keys[size - 1].compareTo(key) < 0) { // already in order: no search
      insert(size, key, value);
      return this;
    }
    int place = Arrays.binarySearch(keys, 0, size, key);
    if (place >= 0) {
      throw new IllegalStateException("put twice: " + key);
    }
    insert(-place - 1, key, value);
    return this;
  }

  private void insert(int at, String key, JsonValue value) {
    if (size == keys.length) {
      keys = Arrays.copyOf(keys, 2 * size);
      values = Arrays.copyOf(values, 2 * size);
    }
    System.arraycopy(keys, at, keys, at + 1, size - at);
    System.arraycopy(values, at, values, at + 1, size - at);
    keys[at] = key;
    values[at] = value;
    size++;
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
    JsonValue[] items = new JsonValue[values.size()];
    int size = 0;
    for (T value : values) {
      items[size++] = toJson.apply(value);
    }
    return put(key, new JsonValue.Arr(List.of(items)));
  }

  public JsonValue.Obj build() {
    return new JsonValue.Obj(
        new SortedMembers(Arrays.copyOf(keys, size), Arrays.copyOf(values, size)));
  }
}
