package dev.writ.surfaces.engine;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.author.ResourceClass;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * Seed 004's universal request. It names a registered operation; there is no member for source
 * code, and none for authority but {@code tenantId}, which must be the caller's own.
 *
 * @param toolVersion exact; absent: the default version rule's
 * @param language must be the tool's
 * @param inputPayload the operation's input
 * @param inputArtifacts files of the tenant's store
 * @param executionPolicyId name or digest of the policy in force
 * @param resourceClass the tool's own or a smaller one
 * @param timeoutBudgetMs for the whole execution, in milliseconds
 * @param correlationId the run; if absent, one of the subject's own
 * @param requestId idempotency: of tenant and subject
 */
public record ToolExecutionRequest(
    String toolId,
    Optional<String> toolVersion,
    Optional<String> language,
    String operation,
    JsonValue.Obj inputPayload,
    List<Artifact> inputArtifacts,
    Optional<String> executionPolicyId,
    Optional<ResourceClass> resourceClass,
    Optional<Long> timeoutBudgetMs,
    Optional<String> correlationId,
    Optional<String> tenantId,
    String requestId) {

  /** A day, in milliseconds. */
  static final long BUDGET_MS_MAX = 86_400_000;

  private static final String RUN = EngineSurface.NAME + ":";
  private static final int ARTIFACTS_MAX = 1_000;
  private static final Pattern CORRELATION_ID = Pattern.compile("[^\\x00-\\x1f\\x7f]{1,200}");
  private static final Pattern REQUEST_ID = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._:-]{0,127}");

  /**
   * A reference to a file of the tenant's store.
   *
   * @param mediaType as the caller states it
   */
  public record Artifact(String name, Digest digest, String mediaType) {
    private static Artifact read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Artifact artifact =
          new Artifact(
              fields.name("name"),
              fields.digest("digest"),
              fields.optional("mediaType", fields::name).orElse("application/octet-stream"));
      fields.end();
      return artifact;
    }
  }

  public ToolExecutionRequest {
    inputArtifacts = List.copyOf(inputArtifacts);
  }

  /**
   * @throws WritException {@code CAN-0xx} for what is no JSON, and for members that are missing,
   *     unknown or of another type
   */
  static ToolExecutionRequest parse(byte[] body) {
    Fields fields = Fields.of("request", Jcs.parse(body));
    ToolExecutionRequest request =
        new ToolExecutionRequest(
            fields.name("toolId"),
            fields.optional("toolVersion", fields::name),
            fields.optional("language", fields::name),
            fields.name("operation"),
            fields.obj("inputPayload"),
            fields
                .optional("inputArtifacts", key -> fields.list(key, Artifact::read))
                .orElse(List.of()),
            fields.optional("executionPolicyId", fields::name),
            fields.optional(
                "resourceClass", key -> fields.oneOf(key, ResourceClass.ALL, ResourceClass::text)),
            fields.optional("timeoutBudgetMs", fields::integer),
            fields.optional("correlationId", fields::string),
            fields.optional("tenantId", fields::name),
            fields.string("requestId"));
    fields.end();
    request.requireValues();
    return request;
  }

  private void requireValues() {
    require(
        isRequestId(requestId),
        "requestId must have 1 to 128 of A-Z a-z 0-9 . _ : -, the first a letter or digit; it has "
            + requestId.length());
    require(
        inputArtifacts.size() <= ARTIFACTS_MAX,
        "inputArtifacts has " + inputArtifacts.size() + ", at most " + ARTIFACTS_MAX);
    correlationId.ifPresent(id ->
        require(
            CORRELATION_ID.matcher(id).matches(),
            "correlationId must have 1 to 200 characters, none of them a control character;"
                + " it has "
                + id.length()));
    timeoutBudgetMs.ifPresent(ms ->
        require(
            ms > 0 && ms <= BUDGET_MS_MAX,
            "timeoutBudgetMs is " + ms + ", and must be 1 to " + BUDGET_MS_MAX));
  }

  private static void require(boolean holds, String found) {
    if (!holds) {
      throw new WritException(CanonicalizeError.FIELD_VALUE, "request/" + found);
    }
  }

  /** Whether a name is valid as a part of a run's name. */
  static boolean isRequestId(String text) {
    return REQUEST_ID.matcher(text).matches();
  }

  /**
   * The run that it belongs to; other surfaces' runs have other prefixes. A requestId is unique for
   * a subject only, so the run contains the subject: two subjects with the same requestId and no
   * correlation get different runs.
   */
  String run(String subject) {
    return correlationId
        .map(id -> RUN + id)
        .orElseGet(() -> EngineSurface.NAME + "@" + shortDigest(subject) + ":" + requestId);
  }

  private static String shortDigest(String subject) {
    return Digest.sha256(subject.getBytes(StandardCharsets.UTF_8)).hex().substring(0, 32);
  }
}
