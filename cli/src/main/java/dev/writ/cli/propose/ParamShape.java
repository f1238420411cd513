package dev.writ.cli.propose;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** The shape of the params of one operation, as expressions of a policy that hold for all of it. */
final class ParamShape {
  /** So few values, each seen twice on average, are taken to be all of them. */
  private static final int VALUES_MAX = 5;

  private static final int VALUE_LENGTH_MAX = 64;

  private ParamShape() {}

  static List<String> expressions(List<JsonValue.Obj> seen) {
    TreeMap<String, List<JsonValue>> byName = new TreeMap<>();
    for (JsonValue.Obj params : seen) {
      params
          .members()
          .forEach(
              (name, value) -> byName.computeIfAbsent(name, _ -> new ArrayList<>()).add(value));
    }
    List<String> all = new ArrayList<>();
    all.add(
        "params.all(k, k in " + list(byName.keySet().stream().map(JsonValue::of).toList()) + ")");
    byName.forEach((name, values) -> {
      String quoted = text(JsonValue.of(name));
      boolean always = values.size() == seen.size();
      if (always) {
        all.add(quoted + " in params");
      }
      bound("params[" + quoted + "]", values)
          .ifPresent(
              bound -> all.add(always ? bound : "!(" + quoted + " in params) || (" + bound + ")"));
    });
    return all;
  }

  private static Optional<String> bound(String param, List<JsonValue> values) {
    if (values.stream().allMatch(JsonValue.Str.class::isInstance)) {
      return Optional.of(
          texts(param, values.stream().map(v -> ((JsonValue.Str) v).value()).toList()));
    }
    if (values.stream().allMatch(v -> v instanceof JsonValue.Num n && n.isInteger())) {
      long[] numbers =
          values.stream().mapToLong(v -> (long) ((JsonValue.Num) v).value()).sorted().toArray();
      return Optional.of(
          param + " >= " + numbers[0] + " && " + param + " <= " + numbers[numbers.length - 1]);
    }
    if (values.stream().allMatch(JsonValue.Bool.class::isInstance)) {
      return values.stream().distinct().count() == 1
          ? Optional.of(param + " == " + text(values.getFirst()))
          : Optional.empty();
    }
    if (values.stream().allMatch(JsonValue.Arr.class::isInstance)) {
      int most = values.stream().mapToInt(v -> ((JsonValue.Arr) v).items().size()).max().orElse(0);
      return Optional.of("size(" + param + ") <= " + most);
    }
    return Optional.empty();
  }

  private static String texts(String param, List<String> values) {
    List<Optional<String>> hosts = values.stream().map(ParamShape::host).toList();
    if (hosts.stream().allMatch(Optional::isPresent)) {
      TreeSet<String> places =
          hosts.stream().map(Optional::orElseThrow).collect(Collectors.toCollection(TreeSet::new));
      return list(places.stream().map(JsonValue::of).toList())
          + ".exists(p, "
          + param
          + " == p || "
          + param
          + ".startsWith(p + \"/\"))";
    }
    TreeSet<String> distinct = new TreeSet<>(values);
    if (distinct.size() <= VALUES_MAX
        && values.size() >= 2 * distinct.size()
        && distinct.stream().allMatch(v -> v.length() <= VALUE_LENGTH_MAX)) {
      return param + " in " + list(distinct.stream().map(JsonValue::of).toList());
    }
    int longest = values.stream().mapToInt(v -> v.codePointCount(0, v.length())).max().orElse(0);
    return "size(" + param + ") <= " + longest;
  }

  /** Scheme, host and port of a URL without user information. */
  private static Optional<String> host(String text) {
    if (!text.matches("https?://[A-Za-z0-9.-]+(:[0-9]{1,5})?(/[^\\s]*)?")) {
      return Optional.empty();
    }
    URI uri;
    try {
      uri = URI.create(text);
    } catch (IllegalArgumentException e) {
      return Optional.empty();
    }
    return Optional.of(uri.getScheme() + "://" + uri.getRawAuthority());
  }

  private static String list(List<? extends JsonValue> values) {
    return text(JsonValue.of(values));
  }

  /** A literal of JSON is one of the expressions' language. */
  private static String text(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
