package dev.writ.canonicalize.json;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/**
 * Reads the members of one object, each exactly once, and refuses what is missing, mistyped or left
 * over. {@link #end()} must be called last: it refuses unknown members.
 */
public final class Fields {
  private static final int LINE_UNITS_MAX = 1_000;

  /** Characters that are not shown, or turn the direction of text; policies have the same rule. */
  private static final Pattern UNSEEN =
      Pattern.compile(
          "[\\x7f-\\x9f\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202e\\u2060-\\u206f\\ufeff]");

  private final String path;
  private final SortedMembers members;

  /** Which members were read, by their places. */
  private final boolean[] read;

  private Fields(String path, JsonValue.Obj object) {
    this.path = path;
    this.members = SortedMembers.of(object);
    this.read = new boolean[members.size()];
  }

  /**
   * @param path where the object stands, for messages: a document's kind or a JSON Pointer under it
   */
  public static Fields of(String path, JsonValue value) {
    if (value instanceof JsonValue.Obj object) {
      return new Fields(path, object);
    }
    throw new WritException(CanonicalizeError.FIELD_TYPE, path + " is not an object");
  }

  /**
   * What an object says as a type, read the first time alone: a document is asked for by one part
   * after the other, each of which reads it. The value keeps it.
   *
   * @param reader a pure function whose results are immutable; each type has only one
   * @throws WritException what the reader throws, each time
   */
  public static <T> T once(JsonValue value, Class<T> type, Function<JsonValue, T> reader) {
    if (!(value instanceof JsonValue.Obj object)) {
      return reader.apply(value);
    }
    SortedMembers members = SortedMembers.of(object);
    T known = members.typed(type);
    if (known == null) {
      known = reader.apply(value);
      members.keep(known);
    }
    return known;
  }

  /** Where the object stands, for messages. */
  public String path() {
    return path;
  }

  public boolean has(String key) {
    return members.indexOf(key) >= 0;
  }

  public JsonValue value(String key) {
    int place = members.indexOf(key);
    if (place < 0) {
      throw new WritException(CanonicalizeError.FIELD_MISSING, path + "/" + key);
    }
    read[place] = true;
    return members.value(place);
  }

  public String string(String key) {
    if (value(key) instanceof JsonValue.Str s) {
      return s.value();
    }
    throw type(key, "a string");
  }

  /** A string of 1 to 256 characters without control characters: the form of every name. */
  public String name(String key) {
    String value = string(key);
    if (value.isEmpty() || value.length() > 256 || hasControl(value)) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          path + "/" + key + " must have 1 to 256 characters, none of them a control character");
    }
    return value;
  }

  /**
   * A text for people in one line: 1 to 1,000 UTF-16 units, not of spaces alone, none of them a
   * control character, or one that is not shown or turns the direction of text.
   */
  public String line(String key) {
    String value = string(key);
    if (value.length() > LINE_UNITS_MAX
        || value.chars().allMatch(c -> c == ' ')
        || value.chars().anyMatch(c -> c < 0x20)
        || UNSEEN.matcher(value).find()) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          path + "/" + key + " must have 1 to 1000 characters in one line, all of them shown");
    }
    return value;
  }

  private static boolean hasControl(String text) {
    for (int i = 0; i < text.length(); i++) {
      if (text.charAt(i) < 0x20 || text.charAt(i) == 0x7f) {
        return true;
      }
    }
    return false;
  }

  /** An integer within ±(2^53 − 1). */
  public long integer(String key) {
    if (value(key) instanceof JsonValue.Num n && n.isInteger()) {
      return (long) n.value();
    }
    throw type(key, "an integer within 2^53 - 1");
  }

  /** An integer that is not negative. */
  public long count(String key) {
    long value = integer(key);
    if (value < 0) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE, path + "/" + key + " is negative: " + value);
    }
    return value;
  }

  public boolean bool(String key) {
    if (value(key) instanceof JsonValue.Bool b) {
      return b.value();
    }
    throw type(key, "true or false");
  }

  public Digest digest(String key) {
    return digest(path + "/" + key, string(key));
  }

  private static Digest digest(String path, String text) {
    try {
      return Digest.parse(text);
    } catch (WritException e) {
      throw new WritException(e.code(), path + ": " + e.found(), e);
    }
  }

  public Instant time(String key) {
    String text = string(key);
    try {
      return Timestamps.parse(text);
    } catch (WritException e) {
      throw new WritException(e.code(), path + "/" + key + ": " + e.found(), e);
    }
  }

  public JsonValue.Obj obj(String key) {
    if (value(key) instanceof JsonValue.Obj o) {
      return o;
    }
    throw type(key, "an object");
  }

  /** The fields of an object inside this one. */
  public Fields fields(String key) {
    return of(path + "/" + key, value(key));
  }

  /** A value out of a fixed list, which is written in lower or upper case as given. */
  public <T> T oneOf(String key, List<T> values, Function<T, String> text) {
    String found = string(key);
    for (T value : values) {
      if (text.apply(value).equals(found)) {
        return value;
      }
    }
    throw new WritException(
        CanonicalizeError.FIELD_VALUE,
        path + "/" + key + " is none of " + values.stream().map(text).toList());
  }

  /** A list; the function gets each item's path and value. */
  public <T> List<T> list(String key, ItemReader<T> item) {
    if (value(key) instanceof JsonValue.Arr a) {
      List<T> result = new ArrayList<>(a.items().size());
      for (int i = 0; i < a.items().size(); i++) {
        result.add(item.read(path + "/" + key + "/" + i, a.items().get(i)));
      }
      return List.copyOf(result);
    }
    throw type(key, "a list");
  }

  /** Reads one item of a list. */
  @FunctionalInterface
  public interface ItemReader<T> {
    T read(String path, JsonValue value);
  }

  /** An {@link ItemReader} for strings. */
  public static String stringItem(String path, JsonValue value) {
    if (value instanceof JsonValue.Str s) {
      return s.value();
    }
    throw new WritException(CanonicalizeError.FIELD_TYPE, path + " is not a string");
  }

  /** An {@link ItemReader} for integers. */
  public static long integerItem(String path, JsonValue value) {
    if (value instanceof JsonValue.Num n && n.isInteger()) {
      return (long) n.value();
    }
    throw new WritException(
        CanonicalizeError.FIELD_TYPE, path + " is not an integer within 2^53 - 1");
  }

  /** An {@link ItemReader} for digests. */
  public static Digest digestItem(String path, JsonValue value) {
    return digest(path, stringItem(path, value));
  }

  /** Reads the member with {@code reader} where it is there. */
  public <T> Optional<T> optional(String key, Function<String, T> reader) {
    return has(key) ? Optional.of(reader.apply(key)) : Optional.empty();
  }

  /**
   * @throws WritException {@code CAN-021} if a member was not read
   */
  public void end() {
    for (int place = 0; place < read.length; place++) {
      if (!read[place]) {
        throw new WritException(CanonicalizeError.FIELD_UNKNOWN, path + "/" + members.key(place));
      }
    }
  }

  private WritException type(String key, String wanted) {
    return new WritException(CanonicalizeError.FIELD_TYPE, path + "/" + key + " is not " + wanted);
  }
}
