package dev.writ.surfaces.mcp;

import io.modelcontextprotocol.spec.McpSchema;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Our own tool, which returns the outcome of an earlier call: an approval may take longer than a
 * session lives.
 */
final class OutcomeTool {
  static final String NAME = "writ_outcome";

  static final String WAIT = "wait_s";
  static final long WAIT_MAX = 300;

  private OutcomeTool() {}

  static McpSchema.Tool view() {
    Map<String, Object> request = new TreeMap<>();
    request.put("type", "string");
    request.put("pattern", "^sha256:[0-9a-f]{64}$");
    request.put("description", "The request id that an earlier result told.");
    Map<String, Object> schema = new TreeMap<>();
    schema.put("type", "object");
    Map<String, Object> wait = new TreeMap<>();
    wait.put("type", "integer");
    wait.put("minimum", 0);
    wait.put("maximum", WAIT_MAX);
    wait.put("description", "How many seconds to wait for the approval; 0, if left out.");
    schema.put("properties", new TreeMap<>(Map.of("request", request, WAIT, wait)));
    schema.put("required", List.of("request"));
    schema.put("additionalProperties", false);
    return McpSchema.Tool.builder(NAME, schema)
        .title("Outcome of an earlier request")
        .description(
            "The outcome of an earlier request of yours. One that was approved in the meantime is"
                + " executed now, once; one that still waits says so; one that was executed gives"
                + " its stored outcome.")
        .annotations(
            McpSchema.ToolAnnotations.builder()
                .readOnlyHint(false)
                .destructiveHint(true)
                .idempotentHint(true)
                .openWorldHint(true)
                .build())
        .build();
  }
}
