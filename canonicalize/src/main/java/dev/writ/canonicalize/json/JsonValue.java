package dev.writ.canonicalize.json;

import java.util.List;
import java.util.SortedMap;

/**
 * A JSON value as RFC 8785 sees it: immutable, objects ordered by the UTF-16 code units of their
 * keys, numbers IEEE doubles. Two values are equal if and only if their canonical bytes are. {@link
 * Jcs} reads and writes it, however deep it is; {@code equals}, {@code hashCode} and {@code
 * toString} recurse, so compare the bytes of values deeper than {@link Limits#DEFAULT} allows.
 */
public sealed interface JsonValue {

  JsonValue TRUE = new Bool(true);
  JsonValue FALSE = new Bool(false);
  JsonValue NULL = new Null();

  /** An object. {@link String}'s natural order is the UTF-16 order that RFC 8785, 3.2.3 demands. */
  record Obj(SortedMap<String, JsonValue> members) implements JsonValue {
    public Obj {
      members = SortedMembers.copyOf(members);
    }

    /** The member, or null where there is none. */
    public JsonValue get(String key) {
      return members.get(key);
    }
  }

  record Arr(List<JsonValue> items) implements JsonValue {
    public Arr {
      items = List.copyOf(items);
    }
  }

  record Str(String value) implements JsonValue {}

  /** A finite number; minus zero is zero (RFC 8785, 3.2.2.3). */
  record Num(double value) implements JsonValue {
    /** The largest integer that a field of ours may hold, 2^53 − 1 (spec/canonical-json.md). */
    public static final long MAX_INTEGER = (1L << 53) - 1;

    public Num {
      if (!Double.isFinite(value)) {
        throw new IllegalArgumentException("JSON has no " + value);
      }
      value += 0.0; // makes minus zero zero, and nothing else another
    }

    /** Whether this is an integer within ±(2^53 − 1). */
    public boolean isInteger() {
      return Math.rint(value) == value && Math.abs(value) <= MAX_INTEGER;
    }
  }

  record Bool(boolean value) implements JsonValue {}

  record Null() implements JsonValue {}

  static Str of(String value) {
    return new Str(value);
  }

  /**
   * An integer field.
   *
   * @throws IllegalArgumentException outside ±(2^53 − 1): our own code never computes such a value
   */
  static Num of(long value) {
    if (value > Num.MAX_INTEGER || value < -Num.MAX_INTEGER) {
      throw new IllegalArgumentException("not within 2^53 - 1: " + value);
    }
    return new Num(value);
  }

  static Bool of(boolean value) {
    return new Bool(value);
  }

  static Arr of(List<? extends JsonValue> items) {
    return new Arr(List.copyOf(items));
  }

  static ObjectBuilder object() {
    return new ObjectBuilder();
  }
}
