package dev.writ.guardian.profile;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.policy.seed.ExecuteTenant;
import dev.writ.guardian.policy.seed.Quantity;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;

/** EXECUTION_REQUEST_SCHEMA of seed 000: its fields and their forms. */
final class SeedSchema {
  private SeedSchema() {}

  /** Whether a field is required, and which stage reports its absence. */
  private enum Presence {
    MANDATORY,
    /** A later stage reports its absence with a code of its own. */
    OWNED,
    OPTIONAL
  }

  private sealed interface Form {
    /** An object with exactly these fields. */
    record Group(List<Field> fields) implements Form {}

    /**
     * @param says what it is, for people
     */
    record Value(String says, Predicate<JsonValue> holds) implements Form {}
  }

  private record Field(String name, Presence presence, Form form) {}

  private static Form text(String says, Predicate<String> holds) {
    return new Form.Value(
        says, value -> value instanceof JsonValue.Str text && holds.test(text.value()));
  }

  private static final Form UUID = text("a UUID", ExecuteTenant::isUuid);

  /** An empty text is no id: it counts as absent. */
  private static final Form ID = text("a UUID", id -> id.isEmpty() || ExecuteTenant.isUuid(id));

  private static final Form NAME =
      text(
          "a text of 1 to 256 characters",
          s ->
              !s.isEmpty() && s.length() <= 256 && s.chars().noneMatch(c -> c < 0x20 || c == 0x7f));
  private static final Form TARGET = text("a text", s -> !s.isEmpty() && s.indexOf('\0') < 0);
  private static final Form TIME = text("an RFC 3339 time", s -> Rfc3339.parse(s).isPresent());
  private static final Form CPU =
      text("an amount like 500m", s -> s.isEmpty() || Quantity.milli(s).isPresent());
  private static final Form MEMORY =
      text("an amount like 128Mi", s -> s.isEmpty() || Quantity.units(s).isPresent());
  private static final Form MILLISECONDS =
      new Form.Value(
          "an integer above zero",
          v -> v instanceof JsonValue.Num n && n.isInteger() && n.value() > 0);
  private static final Form BOOL =
      new Form.Value("true or false", JsonValue.Bool.class::isInstance);
  private static final Form OBJECT = new Form.Value("an object", JsonValue.Obj.class::isInstance);
  private static final Form NAMES =
      new Form.Value(
          "a list of texts",
          v ->
              v instanceof JsonValue.Arr list
                  && list.items().stream().allMatch(((Form.Value) NAME).holds()));

  private static Form only(String word) {
    return text("\"" + word + "\"", word::equals);
  }

  private static Field must(String name, Form form) {
    return new Field(name, Presence.MANDATORY, form);
  }

  private static Field owned(String name, Form form) {
    return new Field(name, Presence.OWNED, form);
  }

  private static Field group(String name, Field... fields) {
    return must(name, new Form.Group(List.of(fields)));
  }

  private static final Form.Group REQUEST =
      new Form.Group(
          List.of(
              must("execution_request_id", UUID),
              must("execution_request_version", only("1.0")),
              group(
                  "intent_ref",
                  owned("intent_id", ID),
                  must("intent_version", NAME),
                  owned("trace_id", ID)),
              group(
                  "execution_spec",
                  must("executor", only("execution")),
                  must("target", TARGET),
                  must("parameters", OBJECT)),
              group(
                  "context",
                  owned("tenant_id", ID),
                  owned("subject_id", ID),
                  must("workspace_id", UUID),
                  owned("trace_id", ID)),
              group(
                  "sandbox",
                  must("profile", NAME),
                  must("network", NAME),
                  must("filesystem", NAME)),
              group(
                  "resources",
                  owned("cpu", CPU),
                  owned("memory", MEMORY),
                  owned("timeout_ms", MILLISECONDS)),
              group(
                  "artifacts",
                  must("capture_stdout", BOOL),
                  must("capture_stderr", BOOL),
                  must("output_files", NAMES),
                  must("persist", BOOL)),
              group(
                  "audit",
                  must("execution_trace_id", UUID),
                  new Field("parent_trace_id", Presence.OPTIONAL, UUID),
                  must("requested_by", NAME),
                  must("timestamp", TIME))));

  /** R-SCHEMA-002: the place of the first unknown field; no payload. */
  static Optional<String> unknown(JsonValue request) {
    return unknown("", request, REQUEST);
  }

  private static Optional<String> unknown(String at, JsonValue value, Form.Group group) {
    if (!(value instanceof JsonValue.Obj object)) {
      return Optional.empty(); // of the wrong type, which is reported next
    }
    for (Map.Entry<String, JsonValue> member : object.members().entrySet()) {
      Optional<Field> field =
          group.fields.stream().filter(f -> f.name.equals(member.getKey())).findFirst();
      if (field.isEmpty()) {
        return Optional.of("a field of " + (at.isEmpty() ? "the request" : at));
      }
      if (field.get().form instanceof Form.Group inner) {
        Optional<String> below = unknown(at + "/" + member.getKey(), member.getValue(), inner);
        if (below.isPresent()) {
          return below;
        }
      }
    }
    return Optional.empty();
  }

  /** R-SCHEMA-003: the first field that is absent or has the wrong form. */
  static Optional<String> violation(JsonValue request) {
    return violation("", request, REQUEST);
  }

  private static Optional<String> violation(String at, JsonValue value, Form.Group group) {
    if (!(value instanceof JsonValue.Obj object)) {
      return Optional.of((at.isEmpty() ? "the request" : at) + " is not an object");
    }
    for (Field field : group.fields) {
      String place = at + "/" + field.name;
      JsonValue found = object.get(field.name);
      if (found == null) {
        if (field.presence == Presence.MANDATORY) {
          return Optional.of(place + " is missing");
        }
        continue;
      }
      Optional<String> violation =
          switch (field.form) {
            case Form.Group inner -> violation(place, found, inner);
            case Form.Value form ->
                form.holds.test(found)
                    ? Optional.empty()
                    : Optional.of(place + " is not " + form.says);
          };
      if (violation.isPresent()) {
        return violation;
      }
    }
    return Optional.empty();
  }
}
