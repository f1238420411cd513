package dev.writ.executor.governance;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.document.ToolSubmission;
import dev.writ.guardian.document.ToolRef;
import java.util.List;

/**
 * What the static validation found in a package: the {@code detail} of {@code tool.validated}. A
 * package without findings passed.
 *
 * @param validator the validator's name and version
 * @param findings in the order in which they were found; {@link #FINDINGS_MAX} at most
 */
public record ToolValidation(ToolRef tool, String validator, List<Finding> findings) {
  /** Only the first findings are kept; the package failed in any case. */
  public static final int FINDINGS_MAX = 100;

  public ToolValidation {
    findings = List.copyOf(findings);
  }

  /** One thing that is wrong with a package. */
  public record Finding(String code, String place, String found) {
    static Finding read(String path, JsonValue value) {
      Fields fields = Fields.of(path, value);
      Finding finding =
          new Finding(fields.name("code"), fields.string("place"), fields.string("found"));
      fields.end();
      return finding;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object().put("code", code).put("place", place).put("found", found).build();
    }
  }

  public static ToolValidation read(JsonValue.Obj detail) {
    Fields fields = Fields.of("detail", detail);
    ToolValidation validation =
        new ToolValidation(
            ToolSubmission.tool(fields),
            fields.name("validator"),
            fields.list("findings", Finding::read));
    fields.end();
    if (validation.findings.size() > FINDINGS_MAX) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "detail/findings has " + validation.findings.size() + ", 100 at most");
    }
    return validation;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("tool", tool.name())
        .put("version", tool.version())
        .put("package", tool.packageDigest())
        .put("validator", validator)
        .putList("findings", findings, Finding::toJson)
        .build();
  }

  public boolean passed() {
    return findings.isEmpty();
  }
}
