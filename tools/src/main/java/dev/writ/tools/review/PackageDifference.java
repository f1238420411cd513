package dev.writ.tools.review;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * One thing in which a version of a tool differs from another.
 *
 * @param what a member of the manifest, or {@code operation}, {@code file}, {@code request}, {@code
 *     listed}
 * @param name of the operation, file or listed tool; absent for a member
 * @param before absent for what is new
 * @param after absent for what is gone
 */
public record PackageDifference(
    String what, Optional<String> name, Optional<JsonValue> before, Optional<JsonValue> after) {
  private static final List<String> MEMBERS =
      List.of("capabilities", "determinism", "driver", "resources_max");

  /**
   * A place where two values differ.
   *
   * @param pointer a JSON Pointer (RFC 6901)
   */
  public record Place(String pointer, Optional<JsonValue> before, Optional<JsonValue> after) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("place", pointer)
          .putIfPresent("before", before, v -> v)
          .putIfPresent("after", after, v -> v)
          .build();
    }
  }

  /** How the second package differs from the first; names and versions aside. */
  public static List<PackageDifference> between(ReviewedPackage first, ReviewedPackage second) {
    List<PackageDifference> all = new ArrayList<>();
    SortedMap<String, JsonValue> before = first.manifest().toJson().members();
    SortedMap<String, JsonValue> after = second.manifest().toJson().members();
    for (String member : MEMBERS) {
      if (!before.get(member).equals(after.get(member))) {
        all.add(
            new PackageDifference(
                member,
                Optional.empty(),
                Optional.of(before.get(member)),
                Optional.of(after.get(member))));
      }
    }
    compare(all, "operation", operations(first.manifest()), operations(second.manifest()));
    compare(all, "file", files(first.manifest()), files(second.manifest()));
    compare(all, "request", texts(first.requests()), texts(second.requests()));
    compare(all, "listed", new TreeMap<>(first.listed()), new TreeMap<>(second.listed()));
    return all;
  }

  private static void compare(
      List<PackageDifference> all,
      String what,
      SortedMap<String, JsonValue> before,
      SortedMap<String, JsonValue> after) {
    TreeSet<String> names = new TreeSet<>(before.keySet());
    names.addAll(after.keySet());
    for (String name : names) {
      Optional<JsonValue> old = Optional.ofNullable(before.get(name));
      Optional<JsonValue> now = Optional.ofNullable(after.get(name));
      if (!old.equals(now)) {
        all.add(new PackageDifference(what, Optional.of(name), old, now));
      }
    }
  }

  private static SortedMap<String, JsonValue> operations(ToolManifest manifest) {
    TreeMap<String, JsonValue> all = new TreeMap<>();
    manifest
        .operations()
        .forEach(o ->
            all.put(
                o.name(),
                JsonValue.object()
                    .put("input", o.input())
                    .putIfPresent("output", o.output(), schema -> schema)
                    .put("media_type", o.mediaType())
                    .build()));
    return all;
  }

  private static SortedMap<String, JsonValue> files(ToolManifest manifest) {
    TreeMap<String, JsonValue> all = new TreeMap<>();
    manifest.files().forEach(f -> all.put(f.path(), JsonValue.of(f.digest().toString())));
    return all;
  }

  private static SortedMap<String, JsonValue> texts(SortedMap<String, String> texts) {
    TreeMap<String, JsonValue> all = new TreeMap<>();
    texts.forEach((name, text) -> all.put(name, JsonValue.of(text)));
    return all;
  }

  /** {@code new}, {@code gone} or {@code changed}. */
  public String change() {
    if (before.isEmpty()) {
      return "new";
    }
    return after.isEmpty() ? "gone" : "changed";
  }

  /** In one line, for people. */
  public String line() {
    return name.map(n -> what + " " + n + ": " + change())
        .orElseGet(() -> what + ": " + text(before) + " → " + text(after));
  }

  private static String text(Optional<JsonValue> value) {
    return value.map(v -> new String(Jcs.write(v), StandardCharsets.UTF_8)).orElse("");
  }

  /** The places in it that differ; lists are compared as a whole. */
  public List<Place> places() {
    TreeMap<String, JsonValue> old = new TreeMap<>();
    TreeMap<String, JsonValue> now = new TreeMap<>();
    before.ifPresent(value -> leaves("", value, old));
    after.ifPresent(value -> leaves("", value, now));
    TreeSet<String> pointers = new TreeSet<>(old.keySet());
    pointers.addAll(now.keySet());
    return pointers.stream()
        .map(pointer ->
            new Place(
                pointer,
                Optional.ofNullable(old.get(pointer)),
                Optional.ofNullable(now.get(pointer))))
        .filter(place -> !place.before().equals(place.after()))
        .toList();
  }

  private static void leaves(String pointer, JsonValue value, SortedMap<String, JsonValue> to) {
    if (value instanceof JsonValue.Obj object && !object.members().isEmpty()) {
      object
          .members()
          .forEach((key, below) ->
              leaves(pointer + "/" + key.replace("~", "~0").replace("/", "~1"), below, to));
    } else {
      to.put(pointer, value);
    }
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("what", what)
        .putIfPresent("name", name, JsonValue::of)
        .put("change", change())
        .putList("places", places(), Place::toJson)
        .build();
  }
}
