package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.error.SandboxError;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * A JSON object in an answer of a service. Services may add members, so others are ignored; a
 * member that is read must have the right type, or be absent or null.
 */
record DockerAnswer(JsonValue.Obj object) {

  /**
   * @throws WritException {@code SBX-009}
   */
  static DockerAnswer read(byte[] body) {
    return of(value(body));
  }

  static List<DockerAnswer> list(byte[] body) {
    if (!(value(body) instanceof JsonValue.Arr array)) {
      throw ResponseHead.malformed("no list");
    }
    return array.items().stream().map(DockerAnswer::of).toList();
  }

  private static JsonValue value(byte[] body) {
    try {
      return Jcs.parse(body);
    } catch (WritException e) {
      throw new WritException(SandboxError.ENGINE_ANSWER, "no JSON: " + e.code().code(), e);
    }
  }

  private static DockerAnswer of(JsonValue value) {
    if (value instanceof JsonValue.Obj object) {
      return new DockerAnswer(object);
    }
    throw ResponseHead.malformed("no object");
  }

  private JsonValue member(String key) {
    JsonValue value = object.get(key);
    return value == null ? JsonValue.NULL : value;
  }

  /** Empty where it is absent. */
  String text(String key) {
    return switch (member(key)) {
      case JsonValue.Str s -> s.value();
      case JsonValue.Null _ -> "";
      default -> throw ResponseHead.malformed(key + " is no string");
    };
  }

  /** False where it is absent. */
  boolean flag(String key) {
    return switch (member(key)) {
      case JsonValue.Bool b -> b.value();
      case JsonValue.Null _ -> false;
      default -> throw ResponseHead.malformed(key + " is no boolean");
    };
  }

  boolean has(String key) {
    return !(member(key) instanceof JsonValue.Null);
  }

  /** 0 where it is absent. */
  long number(String key) {
    return switch (member(key)) {
      case JsonValue.Num n when n.isInteger() -> (long) n.value();
      case JsonValue.Null _ -> 0;
      default -> throw ResponseHead.malformed(key + " is no integer");
    };
  }

  /** An inner object; an empty one if it is absent. */
  DockerAnswer inner(String key) {
    JsonValue value = member(key);
    return value instanceof JsonValue.Null
        ? new DockerAnswer(new JsonValue.Obj(new TreeMap<>()))
        : of(value);
  }

  /** Empty where it is absent. */
  List<String> texts(String key) {
    if (!has(key)) {
      return List.of();
    }
    if (!(member(key) instanceof JsonValue.Arr array)) {
      throw ResponseHead.malformed(key + " is no list");
    }
    List<String> all = new ArrayList<>();
    for (JsonValue item : array.items()) {
      if (!(item instanceof JsonValue.Str s)) {
        throw ResponseHead.malformed(key + " has what is no string");
      }
      all.add(s.value());
    }
    return all;
  }

  List<DockerAnswer> inners(String key) {
    if (!has(key)) {
      return List.of();
    }
    if (!(member(key) instanceof JsonValue.Arr array)) {
      throw ResponseHead.malformed(key + " is no list");
    }
    return array.items().stream().map(DockerAnswer::of).toList();
  }
}
