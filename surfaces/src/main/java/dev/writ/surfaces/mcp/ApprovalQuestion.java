package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.Digest;
import io.modelcontextprotocol.spec.McpSchema;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What the person beside a client is asked while a call waits for an approver: to see to the
 * approval, and to say when to go on. The answer is no approval: that is an approver's signature.
 *
 * @param request the request that waits
 * @param params of {@code elicitation/create}
 */
public record ApprovalQuestion(Digest request, Map<String, Object> params) {
  /** The key of the question among the input requests of a result. */
  static final String KEY = "approval";

  static final String METHOD = McpSchema.METHOD_ELICITATION_CREATE;

  /** Empty for a client that cannot ask anybody. */
  static Optional<ApprovalQuestion> of(
      McpPeer peer, Digest request, String said, Optional<String> link) {
    Map<String, Object> params = new TreeMap<>();
    if (link.isPresent() && peer.opensLinks()) {
      params.put("mode", "url");
      params.put("url", link.get());
      params.put("message", said);
      if (!peer.version().isStateless()) {
        params.put("elicitationId", request.hex());
      }
      return Optional.of(new ApprovalQuestion(request, params));
    }
    if (!peer.showsForms()) {
      return Optional.empty();
    }
    if (!peer.version().isBefore(McpVersion.V2025_11_25)) {
      params.put("mode", "form");
    }
    params.put(
        "message",
        said + "\nAccept when it is approved, and the call goes on; decline to leave it.");
    params.put("requestedSchema", new TreeMap<>(Map.of("type", "object", "properties", Map.of())));
    return Optional.of(new ApprovalQuestion(request, params));
  }
}
