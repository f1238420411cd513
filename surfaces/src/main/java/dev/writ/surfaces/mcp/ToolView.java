package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A tool in the form of tools/list. */
final class ToolView {
  private static final JsonValue OBJECT = JsonValue.of("object");
  private static final String JUDGED =
      "Policy judges every call; it ends in a signed receipt or a signed denial.";

  private ToolView() {}

  static McpSchema.Tool of(Catalogue.Entry entry, JsonValue.Obj schema, Determinism granted) {
    ToolManifest manifest = entry.manifest();
    McpSchema.Tool.Builder tool =
        McpSchema.Tool.builder(entry.name(), input(schema))
            .title(manifest.name() + " " + entry.operation().name())
            .description(description(entry, schema, granted))
            .annotations(annotations(manifest, granted));
    entry
        .operation()
        .output()
        .filter(output -> OBJECT.equals(output.get("type")))
        .ifPresent(output -> tool.outputSchema(PlainJson.object(output)));
    return tool.build();
  }

  /**
   * In the words of the server that has it, and with its schemas. Its hints are its own; ours is
   * the last sentence.
   *
   * @param listed its entry of tools/list, as it is pinned
   */
  static McpSchema.Tool ofServer(Catalogue.Entry entry, JsonValue.Obj listed) {
    McpSchema.Tool.Builder tool =
        McpSchema.Tool.builder(entry.name(), input((JsonValue.Obj) listed.get("inputSchema")))
            .title(text(listed, "title").orElse(entry.operation().name()))
            .description(
                text(listed, "description").map(text -> text + "\n").orElse("")
                    + "("
                    + entry.manifest().name()
                    + " "
                    + entry.manifest().version()
                    + ", tool "
                    + entry.operation().name()
                    + " of an MCP server. "
                    + JUDGED
                    + ")");
    if (listed.get("outputSchema") instanceof JsonValue.Obj output) {
      tool.outputSchema(PlainJson.object(output));
    }
    if (listed.get("annotations") instanceof JsonValue.Obj hints) {
      tool.annotations(
          McpSchema.ToolAnnotations.builder()
              .readOnlyHint(hint(hints, "readOnlyHint"))
              .destructiveHint(hint(hints, "destructiveHint"))
              .idempotentHint(hint(hints, "idempotentHint"))
              .openWorldHint(hint(hints, "openWorldHint"))
              .build());
    }
    return tool.build();
  }

  private static Optional<String> text(JsonValue.Obj object, String key) {
    return object.get(key) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  /** Null where the server does not say it, as the SDK has it. */
  private static Boolean hint(JsonValue.Obj hints, String key) {
    return hints.get(key) instanceof JsonValue.Bool hint ? (Boolean) hint.value() : null;
  }

  /** Params are always an object; the protocol wants the schema to state it. */
  static Map<String, Object> input(JsonValue.Obj schema) {
    Map<String, Object> plain = new TreeMap<>(PlainJson.object(schema));
    plain.putIfAbsent("type", "object");
    return plain;
  }

  private static String description(
      Catalogue.Entry entry, JsonValue.Obj schema, Determinism granted) {
    String own = schema.get("description") instanceof JsonValue.Str text ? text.value() + " " : "";
    return own
        + "("
        + entry.manifest().name()
        + " "
        + entry.manifest().version()
        + ", operation "
        + entry.operation().name()
        + ", "
        + granted.text()
        + ". "
        + JUDGED
        + ")";
  }

  /** States only what the driver enforces: only a pure tool has no side effects. */
  private static McpSchema.ToolAnnotations annotations(ToolManifest manifest, Determinism granted) {
    boolean pure = granted == Determinism.PURE;
    boolean open = !manifest.capabilities().network().isEmpty();
    return McpSchema.ToolAnnotations.builder()
        .readOnlyHint(pure)
        .destructiveHint(!pure)
        .idempotentHint(pure)
        .openWorldHint(!pure || open)
        .build();
  }
}
