package dev.writ.executor.document;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.PayloadTypes;
import dev.writ.guardian.document.ToolRef;
import java.time.Instant;

/** A publisher's request to have a package approved (spec/tool-governance.md). */
public record ToolSubmission(ToolRef tool, Instant submittedAt) {

  public static final String TYPE = PayloadTypes.of("tool-submission");

  public static ToolSubmission read(JsonValue document) {
    Fields fields = Fields.of("tool-submission", document);
    ToolSubmission submission = new ToolSubmission(tool(fields), fields.time("submitted_at"));
    fields.end();
    return submission;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tool", tool.name())
        .put("version", tool.version())
        .put("package", tool.packageDigest())
        .put("submitted_at", submittedAt)
        .build();
  }

  /** The three members by which the documents of governance name a package. */
  public static ToolRef tool(Fields fields) {
    return new ToolRef(fields.name("tool"), fields.name("version"), fields.digest("package"));
  }
}
