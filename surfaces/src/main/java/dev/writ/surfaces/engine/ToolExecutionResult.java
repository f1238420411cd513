package dev.writ.surfaces.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Guidance;
import java.util.List;
import java.util.Optional;

/**
 * Seed 004's universal result.
 *
 * @param outputPayload the output, where it is JSON of at most {@link
 *     EngineResults#INLINE_BYTES_MAX}
 * @param logsRef where the holder fetches the driver's observations, including captured stderr
 * @param traceId of the first call
 * @param failure the cause, unless it is a success
 */
public record ToolExecutionResult(
    String requestId,
    ExecutionState state,
    Status status,
    Tool tool,
    ToolExecutionContext context,
    Optional<JsonValue> outputPayload,
    List<Artifact> outputArtifacts,
    Metrics metrics,
    List<ToolExecutionIncident> incidents,
    Optional<String> logsRef,
    String traceId,
    Optional<Failure> failure,
    Ids ids) {

  /** The seed's statuses, by the seed's names. */
  public enum Status {
    Succeeded,
    Failed,
    TimedOut,
    PolicyDenied,
    SandboxViolation
  }

  /**
   * The tool that the request was resolved to.
   *
   * @param packageDigest absent if no package was found
   */
  public record Tool(
      String toolId, String toolVersion, String operation, Optional<Digest> packageDigest) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("toolId", toolId)
          .put("toolVersion", toolVersion)
          .put("operation", operation)
          .putIfPresent("packageDigest", packageDigest, d -> JsonValue.of(d.toString()))
          .build();
    }
  }

  /**
   * A managed reference.
   *
   * @param ref where the holder fetches it
   */
  public record Artifact(String name, Digest digest, long size, String mediaType, String ref) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("name", name)
          .put("digest", digest)
          .put("size", size)
          .put("mediaType", mediaType)
          .put("ref", ref)
          .build();
    }
  }

  /**
   * The resources that were used; 0 if nothing was dispatched.
   *
   * @param memoryPeakMb in units of 2^20 bytes, rounded up
   */
  public record Metrics(long cpuMs, long memoryPeakMb, long wallMs, long queueWaitMs) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("cpuMs", cpuMs)
          .put("memoryPeakMb", memoryPeakMb)
          .put("wallMs", wallMs)
          .put("queueWaitMs", queueWaitMs)
          .build();
    }
  }

  /**
   * Why it is no success, including causes that are none of the five kinds of incidents.
   *
   * @param guidance what would help, where the Guardian refused it
   */
  public record Failure(String code, String message, Optional<Guidance> guidance) {
    Failure(String code, String message) {
      this(code, message, Optional.empty());
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("code", code)
          .put("message", message)
          .putIfPresent("guidance", guidance, Guidance::toJson)
          .build();
    }
  }

  /** Of the signed documents. */
  public record Ids(Digest request, Digest decision, Optional<Digest> receipt) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("request", request)
          .put("decision", decision)
          .putIfPresent("receipt", receipt, d -> JsonValue.of(d.toString()))
          .build();
    }
  }

  public ToolExecutionResult {
    outputArtifacts = List.copyOf(outputArtifacts);
    incidents = List.copyOf(incidents);
  }

  /** What is absent is left out. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("requestId", requestId)
        .put("state", state.name())
        .put("status", status.name())
        .put("tool", tool.toJson())
        .put("context", context.toJson())
        .putIfPresent("outputPayload", outputPayload, p -> p)
        .putList("outputArtifacts", outputArtifacts, Artifact::toJson)
        .put("metrics", metrics.toJson())
        .putList("incidents", incidents, ToolExecutionIncident::toJson)
        .putIfPresent("logsRef", logsRef, JsonValue::of)
        .put("traceId", traceId)
        .putIfPresent("failure", failure, Failure::toJson)
        .put("ids", ids.toJson())
        .build();
  }
}
