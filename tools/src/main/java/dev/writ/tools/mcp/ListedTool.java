package dev.writ.tools.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * One tool as its server lists it: the texts are the server's own, and nothing of ours depends on
 * what they say.
 *
 * @param annotations the hints that the protocol has; others are left out
 */
public record ListedTool(
    String name,
    Optional<String> title,
    Optional<String> description,
    JsonValue.Obj inputSchema,
    Optional<JsonValue.Obj> outputSchema,
    Optional<JsonValue.Obj> annotations)
    implements Listed {
  private static final int SHOWN_MAX = 60;

  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9_./-]{0,127}");
  private static final List<String> HINTS =
      List.of("destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint");

  /** The beginning of a name that cannot be one, without what steers a terminal or a reader. */
  private static String shown(String name) {
    String begun = name.length() > SHOWN_MAX ? name.substring(0, SHOWN_MAX) + "..." : name;
    return "\"" + begun.replaceAll("[^ -~]", "?") + "\"";
  }

  /**
   * Reads one of a server's list. Members that are not pinned are left out.
   *
   * @throws WritException {@code TOL-231} for a name that no operation can have, {@code TOL-235}
   */
  static ListedTool read(JsonValue.Obj tool) {
    if (!(tool.get("name") instanceof JsonValue.Str name)) {
      throw refuse("a tool without a name");
    }
    if (!NAME.matcher(name.value()).matches()) {
      throw new WritException(
          ToolsError.UPSTREAM_TOOL,
          "a name of " + name.value().length() + " characters, " + shown(name.value()));
    }
    if (!(tool.get("inputSchema") instanceof JsonValue.Obj input)) {
      throw refuse(name.value() + " has no inputSchema");
    }
    return new ListedTool(
        name.value(),
        text(tool, "title"),
        text(tool, "description"),
        input,
        object(tool, "outputSchema"),
        object(tool, "annotations").map(ListedTool::hints));
  }

  private static Optional<String> text(JsonValue.Obj tool, String key) {
    return switch (tool.get(key)) {
      case null -> Optional.empty();
      case JsonValue.Null _ -> Optional.empty();
      case JsonValue.Str text -> Optional.of(text.value());
      default -> throw refuse("a tool whose " + key + " is no text");
    };
  }

  private static Optional<JsonValue.Obj> object(JsonValue.Obj tool, String key) {
    return switch (tool.get(key)) {
      case null -> Optional.empty();
      case JsonValue.Null _ -> Optional.empty();
      case JsonValue.Obj object -> Optional.of(object);
      default -> throw refuse("a tool whose " + key + " is no object");
    };
  }

  private static JsonValue.Obj hints(JsonValue.Obj annotations) {
    TreeMap<String, JsonValue> kept = new TreeMap<>();
    HINTS.forEach(hint -> {
      if (annotations.get(hint) instanceof JsonValue.Bool value) {
        kept.put(hint, value);
      }
    });
    if (annotations.get("title") instanceof JsonValue.Str title) {
      kept.put("title", title);
    }
    return new JsonValue.Obj(kept);
  }

  private static WritException refuse(String found) {
    return new WritException(ToolsError.UPSTREAM_MESSAGE, found);
  }

  @Override
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("name", name)
        .putIfPresent("title", title, JsonValue::of)
        .putIfPresent("description", description, JsonValue::of)
        .put("inputSchema", inputSchema)
        .putIfPresent("outputSchema", outputSchema, o -> o)
        .putIfPresent("annotations", annotations, o -> o)
        .build();
  }
}
