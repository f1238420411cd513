package dev.writ.conform.world;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * A vector in the making. What it must come to is written by hand, as a summary; the rest of its
 * {@code expect} is what the code gave when it was made.
 *
 * @param name its path under golden-vectors/ without {@code .json}
 * @param promise the promise of spec/invariants.md that it attacks
 * @param wanted {@code ok} or a code, {@code A or B} where either is right; of a scenario, the
 *     summary of each step
 */
record Made(
    String name,
    String about,
    Optional<Long> promise,
    String op,
    JsonValue.Obj input,
    List<String> wanted) {

  private static final String OR = " or ";

  /** A bundle of the suite, which both verifiers judge. */
  static Made bundle(String name, String about, String wanted, ObjectBuilder input) {
    return new Made(
        "bundle/" + name, about, Optional.empty(), "bundle.verify", input.build(), List.of(wanted));
  }

  /** The input that has the bundle in itself. */
  static ObjectBuilder inline(byte[] bundle) {
    return JsonValue.object().put("bundle_b64", StrictBase64.encode(bundle));
  }

  /** The input with the bundle in the place of its file's name. */
  JsonValue.Obj input(SortedMap<String, byte[]> files) {
    if (!(input.get("bundle_file") instanceof JsonValue.Str file)) {
      return input;
    }
    TreeMap<String, JsonValue> members = new TreeMap<>(input.members());
    members.remove("bundle_file");
    members.put(
        "bundle_b64", JsonValue.of(StrictBase64.encode(files.get(suite() + "/" + file.value()))));
    return new JsonValue.Obj(members);
  }

  private String suite() {
    return name.substring(0, name.indexOf('/'));
  }

  /** As its file holds it. */
  byte[] bytes(JsonValue.Obj outcome) {
    JsonValue.Obj expect =
        wanted.getFirst().contains(OR)
            ? JsonValue.object()
                .putList(
                    "codes", List.of(wanted.getFirst().split(Pattern.quote(OR))), JsonValue::of)
                .build()
            : outcome;
    byte[] json =
        Jcs.write(
            JsonValue.object()
                .put("about", about)
                .putIfPresent("promise", promise, JsonValue::of)
                .put("op", op)
                .put("input", input)
                .put("expect", expect)
                .build());
    byte[] line = Arrays.copyOf(json, json.length + 1);
    line[json.length] = '\n';
    return line;
  }

  /** Whether an outcome is what is written by hand. */
  boolean isWanted(JsonValue.Obj outcome) {
    List<String> summary = summary(outcome);
    return wanted.getFirst().contains(OR)
        ? List.of(wanted.getFirst().split(Pattern.quote(OR))).contains(summary.getFirst())
        : wanted.equals(summary);
  }

  /** What an outcome comes to. */
  static List<String> summary(JsonValue.Obj outcome) {
    if (outcome.get("steps") instanceof JsonValue.Arr steps) {
      return steps.items().stream().map(step -> step((JsonValue.Obj) step)).toList();
    }
    if (outcome.get("divergences") instanceof JsonValue.Arr divergences) {
      List<String> summary = new ArrayList<>();
      summary.add(((JsonValue.Str) outcome.get("state")).value());
      divergences.items().stream().map(d -> divergence((JsonValue.Obj) d)).forEach(summary::add);
      return summary;
    }
    return List.of(outcome.get("code") instanceof JsonValue.Str code ? code.value() : "ok");
  }

  /** Its code and its first field. */
  private static String divergence(JsonValue.Obj divergence) {
    JsonValue.Obj field =
        (JsonValue.Obj) ((JsonValue.Arr) divergence.get("fields")).items().getFirst();
    return ((JsonValue.Str) divergence.get("code")).value()
        + " "
        + ((JsonValue.Str) field.get("field")).value();
  }

  private static String step(JsonValue.Obj step) {
    if (step.get("outcomes") instanceof JsonValue.Obj outcomes) {
      StringBuilder text = new StringBuilder();
      outcomes
          .members()
          .forEach((what, count) ->
              text.append(text.isEmpty() ? "" : ", ")
                  .append((long) ((JsonValue.Num) count).value())
                  .append(' ')
                  .append(what));
      return text.toString();
    }
    StringBuilder text = new StringBuilder();
    for (String key : List.of("code", "verdict", "decision_code", "status", "receipt_code")) {
      if (step.get(key) instanceof JsonValue.Str value) {
        text.append(text.isEmpty() ? "" : " ").append(value.value());
      }
    }
    for (String key : List.of("crashed", "repeated", "resolved", "done")) {
      if (JsonValue.TRUE.equals(step.get(key))) {
        text.append(text.isEmpty() ? "" : " ").append(key);
      }
    }
    return text.toString();
  }
}
