package dev.writ.tools.mcp;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The result of a tool, as output: its blocks of content, its structured content, and whether the
 * tool failed. Everything else that a server sends along is left out.
 */
final class ToolAnswer {
  private final JsonValue.Obj output;
  private final boolean failed;

  private ToolAnswer(JsonValue.Obj output, boolean failed) {
    this.output = output;
    this.failed = failed;
  }

  /** The JSON Schema of an output. */
  static JsonValue.Obj schema(Optional<JsonValue.Obj> structured) {
    var required = new ArrayList<JsonValue>(List.of(JsonValue.of("content")));
    var properties =
        JsonValue.object()
            .put(
                "content",
                JsonValue.object()
                    .put("type", "array")
                    .put("items", JsonValue.object().put("type", "object").build())
                    .build());
    var schema = JsonValue.object().put("type", "object").put("additionalProperties", false);
    if (structured.isPresent()) {
      TreeMap<String, JsonValue> members = new TreeMap<>(structured.get().members());
      Optional.ofNullable(members.remove("$defs")).ifPresent(defs -> schema.put("$defs", defs));
      properties.put("structuredContent", new JsonValue.Obj(members));
      required.add(JsonValue.of("structuredContent"));
    } else {
      properties.put("structuredContent", JsonValue.TRUE);
    }
    return schema
        .put("properties", properties.build())
        .put("required", JsonValue.of(required))
        .build();
  }

  /**
   * Reads a result.
   *
   * @throws WritException {@code TOL-235} for one that the protocol does not have
   */
  static ToolAnswer read(JsonValue.Obj result) {
    List<JsonValue> blocks = new ArrayList<>();
    switch (result.get("content")) {
      case null -> {
        if (result.get("structuredContent") == null) {
          throw refuse("a result without content");
        }
      }
      case JsonValue.Arr list -> list.items().forEach(block -> blocks.add(block(block)));
      default -> throw refuse("content that is no list");
    }
    boolean failed =
        switch (result.get("isError")) {
          case null -> false;
          case JsonValue.Bool flag -> flag.value();
          default -> throw refuse("isError that is no boolean");
        };
    var output = JsonValue.object().put("content", JsonValue.of(blocks));
    if (result.get("structuredContent") instanceof JsonValue structured) {
      output.put("structuredContent", structured);
    }
    return new ToolAnswer(output.build(), failed);
  }

  /** Whether an object is the content of a resource. */
  static boolean isContent(JsonValue.Obj resource) {
    return isText(resource, "uri") && (isText(resource, "text") || isBase64(resource, "blob"));
  }

  /**
   * One block of content, without what the protocol does not have.
   *
   * @throws WritException {@code TOL-235}
   */
  static JsonValue.Obj block(JsonValue value) {
    if (!(value instanceof JsonValue.Obj block) || !(block.get("type") instanceof JsonValue.Str)) {
      throw refuse("a block of content without a type");
    }
    boolean valid =
        switch (((JsonValue.Str) block.get("type")).value()) {
          case "text" -> isText(block, "text");
          case "image", "audio" -> isBase64(block, "data") && isText(block, "mimeType");
          case "resource_link" -> isText(block, "uri") && isText(block, "name");
          case "resource" ->
              block.get("resource") instanceof JsonValue.Obj resource && isContent(resource);
          default -> false;
        };
    if (!valid) {
      throw refuse("a block of content of another form than its type has");
    }
    TreeMap<String, JsonValue> members = new TreeMap<>(block.members());
    members.remove("_meta");
    return new JsonValue.Obj(members);
  }

  private static boolean isText(JsonValue.Obj object, String key) {
    return object.get(key) instanceof JsonValue.Str;
  }

  private static boolean isBase64(JsonValue.Obj object, String key) {
    if (!(object.get(key) instanceof JsonValue.Str text)) {
      return false;
    }
    try {
      StrictBase64.decode(key, text.value());
      return true;
    } catch (WritException e) {
      return false;
    }
  }

  /** The whole output. */
  JsonValue.Obj output() {
    return output;
  }

  /** Whether the tool says that it failed. */
  boolean failed() {
    return failed;
  }

  /** The first text, where there is one: of a failure the tool's own words. */
  String text() {
    return ((JsonValue.Arr) output.get("content"))
        .items().stream()
            .map(block -> ((JsonValue.Obj) block).get("text"))
            .filter(text -> text instanceof JsonValue.Str)
            .map(text -> ((JsonValue.Str) text).value())
            .findFirst()
            .orElse("");
  }

  private static WritException refuse(String found) {
    return new WritException(ToolsError.UPSTREAM_MESSAGE, found);
  }
}
