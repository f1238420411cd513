package dev.writ.replay.engine;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Texts for people in the kernel's documents. Another version may word them differently, so a
 * replay does not compare them: {@code spec/replay.md}.
 */
final class Messages {
  private static final List<String> TEXTS = List.of("found", "message");
  private static final String DETAIL = "detail";

  /** A member that older refusals do not have; its absence is not compared either. */
  private static final String OBSERVED = "observed";

  private Messages() {}

  /** The replayed document, with the recorded document's texts. */
  static JsonValue asRecorded(JsonValue replayed, JsonValue recorded) {
    if (!(replayed instanceof JsonValue.Obj ours) || !(recorded instanceof JsonValue.Obj theirs)) {
      return replayed;
    }
    SortedMap<String, JsonValue> members = new TreeMap<>(ours.members());
    for (String name : TEXTS) {
      boolean ofAStage = ours.get("code") != null; // else a tool's: compared
      if (ofAStage && isText(ours.get(name)) && isText(theirs.get(name))) {
        members.put(name, theirs.get(name));
      }
    }
    if (theirs.get(OBSERVED) == null) {
      members.remove(OBSERVED);
    }
    if (ours.get("checks") instanceof JsonValue.Arr a
        && theirs.get("checks") instanceof JsonValue.Arr b) {
      members.put("checks", details(a.items(), b.items()));
    }
    return new JsonValue.Obj(members);
  }

  private static JsonValue details(List<JsonValue> ours, List<JsonValue> theirs) {
    List<JsonValue> checks = new ArrayList<>();
    for (int i = 0; i < ours.size(); i++) {
      checks.add(
          i < theirs.size() ? detail(ours.get(i), theirs.get(i)).orElse(ours.get(i)) : ours.get(i));
    }
    return new JsonValue.Arr(checks);
  }

  private static Optional<JsonValue> detail(JsonValue ours, JsonValue theirs) {
    if (ours instanceof JsonValue.Obj a
        && theirs instanceof JsonValue.Obj b
        && isText(a.get(DETAIL))
        && isText(b.get(DETAIL))) {
      SortedMap<String, JsonValue> members = new TreeMap<>(a.members());
      members.put(DETAIL, b.get(DETAIL));
      return Optional.of(new JsonValue.Obj(members));
    }
    return Optional.empty();
  }

  private static boolean isText(JsonValue value) {
    return value instanceof JsonValue.Str;
  }
}
