package dev.writ.surfaces.mcp;

import io.modelcontextprotocol.spec.McpSchema;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Results in the form of each version; the SDK gives that of 2025-11-25. */
final class ResultForms {
  /** How long a list of tools may be used before it is asked for again, in milliseconds. */
  private static final long TOOLS_TTL = 60_000;

  private static final long FIXED_TTL = 3_600_000;
  private static final String HEADER = "x-mcp-header";

  private ResultForms() {}

  /** Whether results of this method are other than the SDK gives them. */
  static boolean differs(McpVersion version, String method) {
    return version.isStateless()
        || method.equals(McpSchema.METHOD_TOOLS_LIST)
        || method.equals(McpSchema.METHOD_TOOLS_CALL) && version.isBefore(McpVersion.V2025_06_18);
  }

  static Map<String, Object> shaped(
      McpVersion version, String method, Map<String, Object> result, Map<String, Object> server) {
    Map<String, Object> shaped = new LinkedHashMap<>(result);
    if (method.equals(McpSchema.METHOD_TOOLS_LIST)) {
      // Values of parameters do not go into headers, where whoever is on the way reads them.
      shaped.put("tools", without(HEADER, shaped.get("tools")));
    }
    if (method.equals(McpSchema.METHOD_TOOLS_CALL) && version.isBefore(McpVersion.V2025_06_18)) {
      shaped.put("content", older(version, shaped.get("content")));
    }
    return version.isStateless() ? complete(method, shaped, server) : shaped;
  }

  /** A result that needs nothing more of the client. */
  static Map<String, Object> complete(
      String method, Map<String, Object> result, Map<String, Object> server) {
    Map<String, Object> complete = new LinkedHashMap<>(result);
    complete.putIfAbsent("resultType", "complete");
    switch (method) {
      case StatelessProtocol.DISCOVER -> cached(complete, FIXED_TTL, "public");
      case McpSchema.METHOD_RESOURCES_TEMPLATES_LIST -> cached(complete, FIXED_TTL, "public");
      case McpSchema.METHOD_TOOLS_LIST, McpSchema.METHOD_PROMPT_LIST ->
          cached(complete, TOOLS_TTL, "private");
      case McpSchema.METHOD_RESOURCES_LIST, McpSchema.METHOD_RESOURCES_READ ->
          cached(complete, 0, "private");
      default -> {
        // not one that is cached
      }
    }
    Map<String, Object> meta = new TreeMap<>();
    if (complete.get("_meta") instanceof Map<?, ?> own) {
      own.forEach((key, value) -> meta.put(String.valueOf(key), value));
    }
    meta.put(StatelessProtocol.SERVER, server);
    complete.put("_meta", meta);
    return complete;
  }

  private static void cached(Map<String, Object> result, long ttlMs, String scope) {
    result.put("ttlMs", ttlMs);
    result.put("cacheScope", scope);
  }

  /** A result that asks the client's person something before the call goes on. */
  static Map<String, Object> asking(ApprovalQuestion question, Map<String, Object> meta) {
    Map<String, Object> result = new LinkedHashMap<>();
    result.put("resultType", "input_required");
    result.put(
        "inputRequests",
        Map.of(
            ApprovalQuestion.KEY,
            new TreeMap<>(Map.of("method", ApprovalQuestion.METHOD, "params", question.params()))));
    result.put("requestState", question.request().toString());
    result.put("_meta", meta);
    return result;
  }

  private static Object without(String name, Object value) {
    return switch (value) {
      case Map<?, ?> object -> {
        Map<String, Object> rest = new LinkedHashMap<>();
        object.forEach((key, member) -> {
          if (!name.equals(key)) {
            rest.put(String.valueOf(key), without(name, member));
          }
        });
        yield rest;
      }
      case List<?> items -> {
        List<Object> rest = new ArrayList<>();
        items.forEach(item -> rest.add(without(name, item)));
        yield rest;
      }
      case null, default -> value;
    };
  }

  /** Kinds of content that a version does not have yet, in kinds that it has. */
  private static Object older(McpVersion version, Object content) {
    if (!(content instanceof List<?> items)) {
      return List.of();
    }
    List<Object> all = new ArrayList<>();
    for (Object item : items) {
      all.add(item instanceof Map<?, ?> block ? older(version, block) : item);
    }
    return all;
  }

  private static Map<?, ?> older(McpVersion version, Map<?, ?> block) {
    String type = String.valueOf(block.get("type"));
    if (type.equals("resource_link")) {
      return Map.of("type", "text", "text", text(block, "name") + ": " + text(block, "uri"));
    }
    if (type.equals("audio") && version.isBefore(McpVersion.V2025_03_26)) {
      return Map.of(
          "type",
          "resource",
          "resource",
          Map.of(
              "uri",
              "writ://audio",
              "mimeType",
              text(block, "mimeType"),
              "blob",
              text(block, "data")));
    }
    return block;
  }

  private static String text(Map<?, ?> block, String name) {
    return Optional.ofNullable(block.get(name)).map(String::valueOf).orElse("");
  }
}
