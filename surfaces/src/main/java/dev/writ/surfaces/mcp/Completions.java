package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** completion/complete: the ids that stand in the templates of our resources. */
final class Completions {
  static final String METHOD = McpSchema.METHOD_COMPLETION_COMPLETE;
  private static final int VALUES_MAX = 100;

  private final McpResources resources;

  Completions(McpResources resources) {
    this.resources = resources;
  }

  /** Empty for params that name no template of ours and no argument of it. */
  Optional<Map<String, Object>> complete(McpSession session, McpMessage.Request message) {
    if (!(message.param("ref").orElse(JsonValue.NULL) instanceof JsonValue.Obj ref)
        || !(message.param("argument").orElse(JsonValue.NULL) instanceof JsonValue.Obj argument)
        || !(ref.get("uri") instanceof JsonValue.Str uri)
        || !(argument.get("name") instanceof JsonValue.Str name)
        || !(argument.get("value") instanceof JsonValue.Str value)) {
      return Optional.empty();
    }
    Stream<String> known =
        switch (uri.value() + " " + name.value()) {
          case McpResources.RECEIPT + " id", McpResources.OUTPUT + " id" ->
              resources.latest(session).reversed().stream().map(Object::toString);
          case McpResources.BUNDLE + " run" -> Stream.of(session.run());
          default -> null;
        };
    if (known == null) {
      return Optional.empty();
    }
    List<String> fitting = known.filter(each -> each.startsWith(value.value())).toList();
    Map<String, Object> completion = new TreeMap<>();
    completion.put("values", fitting.stream().limit(VALUES_MAX).toList());
    completion.put("total", fitting.size());
    completion.put("hasMore", fitting.size() > VALUES_MAX);
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("completion", completion);
    return Optional.of(result);
  }
}
