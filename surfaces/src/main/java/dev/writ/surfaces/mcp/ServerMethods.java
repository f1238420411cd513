package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import io.modelcontextprotocol.spec.McpSchema;
import io.modelcontextprotocol.spec.McpSchema.CallToolResult;
import io.modelcontextprotocol.spec.McpSchema.JSONRPCResponse;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * What one MCP server has beside tools, in the view of that server (spec/tool-mcp-passing.md): as
 * far as its package passes it and a role of the caller may use it.
 */
final class ServerMethods {
  /** Those that reach the server, each as an effect. */
  static final List<String> EFFECTS =
      List.of(
          Completions.METHOD,
          McpSchema.METHOD_PROMPT_GET,
          McpSchema.METHOD_RESOURCES_LIST,
          McpSchema.METHOD_RESOURCES_READ);

  /** A refusal, a failure, a wait for an approval: what is not the server's own error. */
  private static final int NOT_DONE = -32000;

  private static final Pattern SERVERS_ERROR =
      Pattern.compile("(?s)FAILED: mcp-error: (-?[0-9]{1,9}): (.*?)\\. Receipt: .*");

  private final Catalogue catalogue;
  private final Caller caller;

  ServerMethods(Catalogue catalogue, Caller caller) {
    this.catalogue = catalogue;
    this.caller = caller;
  }

  private boolean has(String method) {
    return catalogue.method(caller, method).isPresent();
  }

  private boolean passes(String what) {
    return catalogue.offered().filter(offered -> offered.passes().contains(what)).isPresent();
  }

  /** Whether the server's messages of its log are told. */
  boolean logs() {
    return passes("logging");
  }

  /** What the handshake announces beside tools, by capability. */
  Map<String, Object> capabilities() {
    Map<String, Object> all = new TreeMap<>();
    if (has(McpSchema.METHOD_PROMPT_GET)) {
      all.put("prompts", Map.of());
    }
    if (has(McpSchema.METHOD_RESOURCES_READ)) {
      all.put("resources", Map.of());
    }
    if (has(Completions.METHOD)) {
      all.put("completions", Map.of());
    }
    if (logs()) {
      all.put("logging", Map.of());
    }
    return all;
  }

  /** The prompts that are shown; empty where none are. */
  Optional<JsonValue> prompts() {
    return has(McpSchema.METHOD_PROMPT_GET)
        ? catalogue.offered().map(offered -> offered.pinned().get("prompts"))
        : Optional.empty();
  }

  /** A list that is pinned, so that nobody has to be asked; empty where there is none. */
  Optional<Map<String, Object>> pinned(String method) {
    return switch (method) {
      case McpSchema.METHOD_PROMPT_LIST ->
          has(McpSchema.METHOD_PROMPT_GET) ? list("prompts", "prompts") : Optional.empty();
      case McpSchema.METHOD_RESOURCES_TEMPLATES_LIST ->
          has(McpSchema.METHOD_RESOURCES_READ)
              ? list("templates", "resourceTemplates")
              : Optional.empty();
      default -> Optional.empty();
    };
  }

  private Optional<Map<String, Object>> list(String pinned, String shown) {
    Map<String, Object> result = new LinkedHashMap<>();
    catalogue
        .offered()
        .map(offered -> offered.pinned().get(pinned))
        .ifPresent(list -> result.put(shown, PlainJson.of(list)));
    return Optional.of(result);
  }

  /** The answer for an effect: the server's own result, or an error that says what happened. */
  static JSONRPCResponse answer(Object id, CallToolResult result) {
    if (!Boolean.TRUE.equals(result.isError())
        && result.structuredContent() instanceof Map<?, ?> own) {
      Map<String, Object> all = new LinkedHashMap<>();
      own.forEach((key, value) -> all.put(String.valueOf(key), value));
      all.put("_meta", result.meta());
      return JSONRPCResponse.result(id, all);
    }
    String text =
        result.content().stream()
            .filter(McpSchema.TextContent.class::isInstance)
            .map(content -> ((McpSchema.TextContent) content).text())
            .collect(Collectors.joining("\n"));
    Matcher own = SERVERS_ERROR.matcher(text);
    return JSONRPCResponse.error(
        id,
        own.matches()
            ? new JSONRPCResponse.JSONRPCError(
                Integer.parseInt(own.group(1)), own.group(2), result.meta())
            : new JSONRPCResponse.JSONRPCError(NOT_DONE, text, result.meta()));
  }

  /** Whether an address is one of Writ's own. */
  static boolean isOurs(Optional<JsonValue> uri) {
    return uri.filter(JsonValue.Str.class::isInstance)
        .filter(text -> ((JsonValue.Str) text).value().startsWith("writ://"))
        .isPresent();
  }
}
