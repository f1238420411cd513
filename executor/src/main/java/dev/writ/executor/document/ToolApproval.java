package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.ToolRef;
import java.time.Instant;
import java.util.List;
import java.util.Locale;

/**
 * An approver's verdict on one exact package (spec/tool-governance.md).
 *
 * @param role the approver role, as the policy's section {@code governance} names it
 */
public record ToolApproval(
    ToolRef tool, String approver, String role, Approval.Verdict verdict, Instant approvedAt) {

  public static final String TYPE = PayloadTypes.of("tool-approval");

  public static ToolApproval read(JsonValue document) {
    Fields fields = Fields.of("tool-approval", document);
    ToolApproval approval =
        new ToolApproval(
            ToolSubmission.tool(fields),
            fields.name("approver"),
            fields.name("role"),
            fields.oneOf("verdict", List.of(Approval.Verdict.values()), ToolApproval::text),
            fields.time("approved_at"));
    fields.end();
    return approval;
  }

  private static String text(Approval.Verdict verdict) {
    return verdict.name().toLowerCase(Locale.ROOT);
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tool", tool.name())
        .put("version", tool.version())
        .put("package", tool.packageDigest())
        .put("approver", approver)
        .put("role", role)
        .put("verdict", text(verdict))
        .put("approved_at", approvedAt)
        .build();
  }
}
