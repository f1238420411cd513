package dev.writ.conform.world;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;

/** One change at a random place of a JSON value: of a member, of a list, or of what is in them. */
final class JsonChanges {
  private static final List<Double> NUMBERS =
      List.of(0.0, 1.0, -1.0, 0.5, 100.0, 101.0, 9007199254740991.0, 9007199254740992.0, 1e300);
  private static final List<String> TEXTS =
      List.of(
          "", "x", "writ", "\u0000", "\u0085", "\ud83d\udd11", "é", "a\u202eb", "x".repeat(300));
  private static final List<Long> MILLIS =
      List.of(1L, -1L, 1000L, -2001L, 60_000L, 61_000L, -61_000L, 300_000L, 86_400_000L, -1L << 42);

  private final Random random;
  private final List<String> pool;
  private final Map<String, List<JsonValue>> members;

  /** What was done, in words. */
  String what = "";

  /**
   * @param pool texts of the same kind as those that stand in the value: digests, ids, names, times
   */
  JsonChanges(Random random, List<String> pool) {
    this(random, pool, Map.of());
  }

  /**
   * @param members values by the name of the member that they are elsewhere: in its place each has
   *     the right form
   */
  JsonChanges(Random random, List<String> pool, Map<String, List<JsonValue>> members) {
    this.random = random;
    this.pool = pool;
    this.members = members;
  }

  /** The different values in a value by their members' names. */
  static void members(JsonValue value, Map<String, List<JsonValue>> into) {
    switch (value) {
      case JsonValue.Arr list -> list.items().forEach(item -> members(item, into));
      case JsonValue.Obj object ->
          object
              .members()
              .forEach((name, member) -> {
                List<JsonValue> known = into.computeIfAbsent(name, _ -> new ArrayList<>());
                if (!known.contains(member)) {
                  known.add(member);
                }
                members(member, into);
              });
      default -> {
        // no member in it
      }
    }
  }

  /** The texts in a value. */
  static void texts(JsonValue value, List<String> into) {
    switch (value) {
      case JsonValue.Str text -> into.add(text.value());
      case JsonValue.Arr list -> list.items().forEach(item -> texts(item, into));
      case JsonValue.Obj object -> object.members().values().forEach(item -> texts(item, into));
      default -> {
        // no text in it
      }
    }
  }

  JsonValue change(JsonValue value) {
    return change("", value);
  }

  private JsonValue change(String place, JsonValue value) {
    return switch (value) {
      case JsonValue.Obj object
          when !object.members().isEmpty() && random.nextInt(members.isEmpty() ? 7 : 20) > 0 ->
          inside(place, object);
      case JsonValue.Arr list when !list.items().isEmpty() && random.nextInt(3) > 0 ->
          inside(place, list);
      case JsonValue.Obj object -> members(place, object);
      case JsonValue.Arr list -> items(place, list);
      case JsonValue.Str text -> said(place, JsonValue.of(text(text.value())));
      case JsonValue.Num number -> said(place, new JsonValue.Num(number(number.value())));
      default -> said(place, other(value));
    };
  }

  private JsonValue said(String place, JsonValue value) {
    String text = value.toString();
    what = place + " = " + text.substring(0, Math.min(80, text.length()));
    return value;
  }

  private JsonValue inside(String place, JsonValue.Obj object) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    String key = pick(List.copyOf(members.keySet()));
    JsonValue now = members.get(key);
    List<JsonValue> others =
        this.members.getOrDefault(key, List.of()).stream()
            .filter(other -> !other.equals(now))
            .toList();
    members.put(
        key,
        others.isEmpty() || random.nextInt(time(now) == null ? 4 : 2) == 0
            ? change(place + "/" + key, now)
            : said(place + "/" + key, pick(others)));
    return new JsonValue.Obj(members);
  }

  private JsonValue inside(String place, JsonValue.Arr list) {
    List<JsonValue> items = new ArrayList<>(list.items());
    int at = random.nextInt(items.size());
    items.set(at, change(place + "/" + at, items.get(at)));
    return JsonValue.of(items);
  }

  private JsonValue members(String place, JsonValue.Obj object) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    if (members.isEmpty() || random.nextBoolean()) {
      String key = random.nextInt(3) == 0 ? "more" : pick(pool);
      members.put(key, any());
      return said(place + " gets " + key, new JsonValue.Obj(members));
    }
    String key = pick(List.copyOf(members.keySet()));
    JsonValue gone = members.remove(key);
    if (random.nextInt(3) == 0) {
      members.put(key + "_", gone);
    }
    what = place + " loses " + key;
    return new JsonValue.Obj(members);
  }

  private JsonValue items(String place, JsonValue.Arr list) {
    List<JsonValue> items = new ArrayList<>(list.items());
    switch (random.nextInt(4)) {
      case 0 -> items.add(random.nextInt(items.size() + 1), any());
      case 1 -> {
        if (!items.isEmpty()) {
          items.add(random.nextInt(items.size() + 1), pick(items));
        }
      }
      case 2 -> {
        if (!items.isEmpty()) {
          items.remove(random.nextInt(items.size()));
        }
      }
      default -> {
        if (items.size() > 1) {
          items.add(random.nextInt(items.size()), items.remove(random.nextInt(items.size())));
        }
      }
    }
    return said(place, JsonValue.of(items));
  }

  private JsonValue any() {
    return switch (random.nextInt(6)) {
      case 0 -> JsonValue.TRUE;
      case 1 -> JsonValue.of(List.of());
      case 2 -> JsonValue.object().build();
      case 3 -> new JsonValue.Num(pick(NUMBERS));
      default -> JsonValue.of(pick(pool));
    };
  }

  private JsonValue other(JsonValue value) {
    if (value instanceof JsonValue.Bool bool && random.nextInt(4) > 0) {
      return JsonValue.of(!bool.value());
    }
    return any();
  }

  private double number(double value) {
    return switch (random.nextInt(3)) {
      case 0 -> value + 1;
      case 1 -> value - 1;
      default -> pick(NUMBERS);
    };
  }

  /** A text of the same kind, mostly. */
  private String text(String text) {
    int way = random.nextInt(8);
    if (way == 0) {
      return pick(TEXTS);
    }
    if (way == 1) {
      return pick(pool);
    }
    Instant time = time(text);
    if (time != null && way < 6) {
      return written(time.plusMillis(pick(MILLIS)));
    }
    List<String> alike = pool.stream().filter(other -> kind(other).equals(kind(text))).toList();
    return alike.isEmpty() || way == 7 ? text + "x" : pick(alike);
  }

  private static Instant time(JsonValue value) {
    return value instanceof JsonValue.Str text ? time(text.value()) : null;
  }

  private static Instant time(String text) {
    try {
      return text.length() == 24 && text.endsWith("Z") ? Instant.parse(text) : null;
    } catch (DateTimeParseException e) {
      return null;
    }
  }

  private static String written(Instant time) {
    return Timestamps.format(time);
  }

  private static String kind(String text) {
    if (text.startsWith("sha256:")) {
      return "digest";
    }
    return time(text) != null ? "time" : text.length() == 43 ? "key" : "name";
  }

  <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
