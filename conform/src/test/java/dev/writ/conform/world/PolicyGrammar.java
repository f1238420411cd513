package dev.writ.conform.world;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.TreeMap;

/**
 * Policies changed at any place: a name that nothing defines or that no editor shows, a number at a
 * border, a member more or fewer, an item twice or elsewhere, a value of another type. A seed makes
 * one.
 */
final class PolicyGrammar {
  /** One of them is odd for whatever stands in a policy. */
  private static final List<JsonValue> ODD =
      List.of(
              "''",
              "'a'",
              "'A'",
              "'.'",
              "'..'",
              "'/'",
              "'a/b'",
              "'a/../b'",
              "'a//b'",
              "'a\\\\b'",
              "'*'",
              "'wor*'",
              "'w*s'",
              "'*.example.com:443'",
              "'*.*.example.com:443'",
              "'EXAMPLE.com:443'",
              "'example.com'",
              "'example.com:0'",
              "'example.com:65536'",
              "'example.com:0443'",
              "'example.com.:443'",
              "'exa_mple.com:443'",
              "'-a.com:443'",
              "'a-.com:443'",
              "'a.1b:443'",
              "'1b:443'",
              "'123:443'",
              "'1.2.3.4:80'",
              "'1.2.3.256:80'",
              "'001.2.3.4:80'",
              "'1.2.3:80'",
              "'[::1]:80'",
              "'[::]:80'",
              "'[1:2:3:4:5:6:7:8]:80'",
              "'[1:2:3:4:5:6:7::]:80'",
              "'[1:2:3:4:5:6:7::8]:80'",
              "'[::1.2.3.4]:80'",
              "'[1.2.3.4::]:80'",
              "'[::fffff]:80'",
              "'[::1%25lo]:80'",
              "'[:1::]:80'",
              "'https://example.com:443'",
              "'user@example.com:443'",
              "'example.com:443/x'",
              "'00:00'",
              "'24:00'",
              "'24:01'",
              "'8:00'",
              "'+18:00'",
              "'+18:01'",
              "'-00:00'",
              "'+19:00'",
              "'+01:60'",
              "'500m'",
              "'0m'",
              "'0.0'",
              "'1e'",
              "'1e9'",
              "'1.'",
              "'1E'",
              "'1Ei'",
              "'1mi'",
              "'44444444-4444-4444-8444-44444444444A'",
              "'44444444-4444-4444-8444-444444444444'",
              "'$target'",
              "'$argv'",
              "'$$argv'",
              "'$nothing'",
              "'$'",
              "'mandate/uses'",
              "'cpu-limit'",
              "'unlimited'",
              "'__proto__'",
              "'constructor'",
              "'toString'",
              "'toolname with spaces'",
              "'\\u202e'",
              "'\\u007f'",
              "'\\u0000'",
              "'\\ud83d\\ude00'",
              "0",
              "1",
              "-1",
              "0.5",
              "0.001",
              "0.0005",
              "2.0015",
              "3",
              "4",
              "59",
              "60",
              "100",
              "101",
              "4096",
              "4097",
              "100000",
              "100001",
              "1048576",
              "1048577",
              "1073741825",
              "31622400",
              "31622401",
              "86400000",
              "86400001",
              "4294967297",
              "1099511627776",
              "1099511627777",
              "1125899906842625",
              "9007199254740991",
              "1e300",
              "true",
              "false",
              "null",
              "[]",
              "{}",
              "['a']",
              "{'a':1}")
          .stream()
          .map(text -> Plot.json("{\"v\":" + text.replace('\'', '"') + "}").get("v"))
          .toList();

  private final Random random;
  private final List<JsonValue> known = new ArrayList<>();

  /** What was done, in words. */
  String what = "";

  PolicyGrammar(long seed) {
    this.random = new Random(seed);
  }

  JsonValue.Obj change(JsonValue.Obj policy) {
    collect(policy);
    JsonValue.Obj changed = policy;
    for (int i = random.nextInt(5) == 0 ? 2 : 1; i > 0; i--) {
      changed = at("", changed, section(changed)) instanceof JsonValue.Obj next ? next : changed;
    }
    return changed;
  }

  /** Sections are of very different sizes: each as often as another. */
  private List<String> section(JsonValue.Obj policy) {
    List<String> names = List.copyOf(policy.members().keySet());
    return names.isEmpty() || random.nextInt(12) == 0 ? List.of() : List.of(pick(names));
  }

  private JsonValue at(String place, JsonValue value, List<String> first) {
    boolean here = first.isEmpty() && random.nextInt(3) == 0;
    if (value instanceof JsonValue.Obj object && !object.members().isEmpty() && !here) {
      String key =
          first.isEmpty() ? pick(List.copyOf(object.members().keySet())) : first.getFirst();
      TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
      members.put(key, at(place + "/" + key, members.get(key), List.of()));
      return new JsonValue.Obj(members);
    }
    if (value instanceof JsonValue.Arr list && !list.items().isEmpty() && !here) {
      List<JsonValue> items = new ArrayList<>(list.items());
      int i = random.nextInt(items.size());
      items.set(i, at(place + "/" + i, items.get(i), List.of()));
      return JsonValue.of(items);
    }
    return changed(place, value);
  }

  private JsonValue changed(String place, JsonValue value) {
    JsonValue next =
        switch (value) {
          case JsonValue.Obj object when random.nextInt(4) > 0 -> members(object);
          case JsonValue.Arr list when random.nextInt(4) > 0 -> items(list);
          case JsonValue.Num number when random.nextInt(3) == 0 ->
              new JsonValue.Num(number.value() + (random.nextBoolean() ? 1 : -1));
          case JsonValue.Bool bool when random.nextInt(2) == 0 -> JsonValue.of(!bool.value());
          default -> like(value);
        };
    what += place + " = " + next + "; ";
    return next;
  }

  private JsonValue members(JsonValue.Obj object) {
    TreeMap<String, JsonValue> members = new TreeMap<>(object.members());
    List<String> keys = List.copyOf(members.keySet());
    int way = keys.isEmpty() ? 0 : random.nextInt(3);
    if (way == 0) {
      members.put(key(), keys.isEmpty() || random.nextBoolean() ? any() : members.get(pick(keys)));
    } else {
      JsonValue gone = members.remove(pick(keys));
      if (way == 1) {
        members.put(key(), gone);
      }
    }
    return new JsonValue.Obj(members);
  }

  private String key() {
    JsonValue value = any();
    return value instanceof JsonValue.Str text ? text.value() : "more";
  }

  private JsonValue items(JsonValue.Arr list) {
    List<JsonValue> items = new ArrayList<>(list.items());
    int size = items.size();
    int way = size == 0 ? 0 : random.nextInt(4);
    switch (way) {
      case 0 -> items.add(random.nextInt(size + 1), any());
      case 1 -> items.add(random.nextInt(size + 1), pick(items));
      case 2 -> items.remove(random.nextInt(size));
      default -> items.add(random.nextInt(size + 1), at("", pick(items), List.of()));
    }
    return JsonValue.of(items);
  }

  /** Mostly of the same type, so that not every second policy is refused for a type. */
  private JsonValue like(JsonValue value) {
    JsonValue other = any();
    for (int i = 0; i < 8 && other.getClass() != value.getClass(); i++) {
      other = any();
    }
    return other;
  }

  private JsonValue any() {
    return random.nextInt(3) == 0 ? pick(known) : pick(ODD);
  }

  private void collect(JsonValue value) {
    switch (value) {
      case JsonValue.Arr list -> list.items().forEach(this::collect);
      case JsonValue.Obj object ->
          object
              .members()
              .forEach((name, member) -> {
                known.add(JsonValue.of(name));
                collect(member);
              });
      default -> known.add(value);
    }
  }

  private <T> T pick(List<T> list) {
    return list.get(random.nextInt(list.size()));
  }
}
