package dev.writ.guardian.document;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * An approver's verdict on one exact request under one exact policy (protocol rule 8).
 *
 * @param role the approver role, as policy names it
 * @param reason what the approver tells readers; it decides nothing
 */
public record Approval(
    String tenant,
    String approver,
    String role,
    Digest request,
    Digest effect,
    Digest policy,
    Verdict verdict,
    Instant approvedAt,
    Instant expiresAt,
    Optional<String> reason) {

  /** An approval that tells no reason. */
  public Approval(
      String tenant,
      String approver,
      String role,
      Digest request,
      Digest effect,
      Digest policy,
      Verdict verdict,
      Instant approvedAt,
      Instant expiresAt) {
    this(
        tenant,
        approver,
        role,
        request,
        effect,
        policy,
        verdict,
        approvedAt,
        expiresAt,
        Optional.empty());
  }

  public static final String TYPE = PayloadTypes.of("approval");

  /** What the approver says. */
  public enum Verdict {
    APPROVE,
    REJECT;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  public static Approval read(JsonValue document) {
    Fields fields = Fields.of("approval", document);
    Approval approval =
        new Approval(
            fields.name("tenant"),
            fields.name("approver"),
            fields.name("role"),
            fields.digest("request"),
            fields.digest("effect"),
            fields.digest("policy"),
            fields.oneOf("verdict", List.of(Verdict.values()), Verdict::text),
            fields.time("approved_at"),
            fields.time("expires_at"),
            fields.optional("reason", fields::line));
    fields.end();
    return approval;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tenant", tenant)
        .put("approver", approver)
        .put("role", role)
        .put("request", request)
        .put("effect", effect)
        .put("policy", policy)
        .put("verdict", verdict.text())
        .put("approved_at", approvedAt)
        .put("expires_at", expiresAt)
        .putIfPresent("reason", reason, JsonValue::of)
        .build();
  }
}
