package dev.writ.guardian.profile;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.guardian.policy.seed.ExecuteTenant;
import dev.writ.guardian.policy.seed.Quantity;
import dev.writ.guardian.policy.seed.SeedProfile;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A request of seed 000 as far as it can be read. Ids are in lower case, so that one id has one
 * form. Everything is optional: a refusal is reported and logged with the members that are present.
 *
 * @param json the request, an object
 */
public record ExecuteRequest(JsonValue.Obj json) {
  static final Limits LIMITS = new Limits(1 << 20, 64);

  /** An empty request, for a body that is no object. */
  public static ExecuteRequest nothing() {
    return new ExecuteRequest(JsonValue.object().build());
  }

  /** As much of a body as can be read; nothing where it is no JSON object. */
  public static ExecuteRequest parse(byte[] body) {
    try {
      return Jcs.parse(body, LIMITS) instanceof JsonValue.Obj object
          ? new ExecuteRequest(object)
          : nothing();
    } catch (WritException e) {
      return nothing();
    }
  }

  private Optional<JsonValue> at(String group, String name) {
    return json.get(group) instanceof JsonValue.Obj object
        ? Optional.ofNullable(object.get(name))
        : Optional.empty();
  }

  /** A text that is there and not empty. */
  private Optional<String> text(String group, String name) {
    return text(at(group, name));
  }

  private static Optional<String> text(Optional<JsonValue> value) {
    return value
        .flatMap(v -> v instanceof JsonValue.Str s ? Optional.of(s.value()) : Optional.empty())
        .filter(s -> !s.isEmpty());
  }

  /** An id in the form of one; any other text may be a payload, and is never repeated. */
  private static Optional<String> id(Optional<String> text) {
    return text.filter(ExecuteTenant::isUuid).map(id -> id.toLowerCase(Locale.ROOT));
  }

  /** An id as the caller wrote it, for answers: of the request itself, or of a group. */
  public Optional<String> written(String... path) {
    Optional<JsonValue> value =
        path.length == 1 ? Optional.ofNullable(json.get(path[0])) : at(path[0], path[1]);
    return text(value).filter(ExecuteTenant::isUuid);
  }

  public Optional<String> requestId() {
    return id(text(Optional.ofNullable(json.get("execution_request_id"))));
  }

  Optional<String> intentId() {
    return id(text("intent_ref", "intent_id"));
  }

  Optional<String> intentVersion() {
    return text("intent_ref", "intent_version");
  }

  Optional<String> intentTraceId() {
    return id(text("intent_ref", "trace_id"));
  }

  Optional<String> tenantId() {
    return id(text("context", "tenant_id"));
  }

  Optional<String> subjectId() {
    return id(text("context", "subject_id"));
  }

  Optional<String> workspaceId() {
    return id(text("context", "workspace_id"));
  }

  public Optional<String> traceId() {
    return id(text("context", "trace_id"));
  }

  Optional<String> target() {
    return text("execution_spec", "target");
  }

  JsonValue.Obj parameters() {
    return (JsonValue.Obj) at("execution_spec", "parameters").orElseThrow();
  }

  Optional<String> profile() {
    return text("sandbox", "profile");
  }

  /** The sandbox profile for the audit line: one of the seed's words, or nothing. */
  public Optional<String> auditProfile() {
    return profile().filter(p -> SeedProfile.of(p).isPresent());
  }

  Optional<String> network() {
    return text("sandbox", "network");
  }

  Optional<String> filesystem() {
    return text("sandbox", "filesystem");
  }

  Optional<Long> cpuMilli() {
    return text("resources", "cpu").flatMap(Quantity::milli);
  }

  Optional<Long> memoryBytes() {
    return text("resources", "memory").flatMap(Quantity::units);
  }

  Optional<Long> timeoutMs() {
    return at("resources", "timeout_ms")
        .flatMap(
            v -> v instanceof JsonValue.Num n ? Optional.of((long) n.value()) : Optional.empty());
  }

  public boolean captures(String stream) {
    return at("artifacts", "capture_" + stream).filter(JsonValue.TRUE::equals).isPresent();
  }

  JsonValue outputFiles() {
    return at("artifacts", "output_files").orElseGet(() -> JsonValue.of(List.of()));
  }

  /** Whether its artifacts are kept after the response. */
  public boolean persist() {
    return at("artifacts", "persist").filter(JsonValue.TRUE::equals).isPresent();
  }

  /** The name by which its own execution is known. */
  public Optional<String> executionTraceId() {
    return id(text("audit", "execution_trace_id"));
  }

  Optional<String> parentTraceId() {
    return id(text("audit", "parent_trace_id"));
  }

  Optional<Instant> timestamp() {
    return text("audit", "timestamp").flatMap(Rfc3339::parse);
  }
}
