package dev.writ.executor.document;

import com.code_intelligence.jazzer.junit.FuzzTest;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.governance.ToolStaging;
import dev.writ.executor.governance.ToolValidation;
import dev.writ.guardian.document.Approval;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Observed;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Refusal;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolRef;
import dev.writ.guardian.policy.governance.Canary;
import dev.writ.guardian.policy.governance.RolloutStage;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;

/** Any JSON whatever: a document that is written as that very JSON, or a refusal. */
class DocumentsFuzzTest {
  private static final Digest D = Digest.sha256(new byte[0]);
  private static final Instant AT = Instant.parse("2026-11-21T12:00:00.000Z");
  private static final ToolRef TOOL = new ToolRef("js", "1.0.0", D);
  private static final Scope SCOPE = new Scope("acme", "run-1", "researcher");

  static Stream<byte[]> seeds() {
    JsonValue.Obj detail = JsonValue.object().put("tool", "js").build();
    return Stream.of(
            receipt(Status.SUCCEEDED, Optional.empty()),
            receipt(Status.FAILED, Optional.of("EXE-001")),
            new Refusal(
                    SCOPE, D, D, D, "gate", "EXE-001", "", Optional.of(Observed.input("data")), AT)
                .toJson(),
            new ExecutionOrder("acme", D, AT).toJson(),
            new RunClose("acme", "run-1", AT).toJson(),
            new RunClosing("acme", "run-1", D, 7, D, 1, D).toJson(),
            new Resolution("acme", D, Resolution.Found.HAPPENED, "seen", List.of(D), AT).toJson(),
            new SystemChange("tool.prohibited", detail, AT).toJson(),
            new ToolSubmission(TOOL, AT).toJson(),
            new ToolApproval(TOOL, "ada", "reviewer", Approval.Verdict.APPROVE, AT).toJson(),
            new ToolValidation(
                    TOOL, "lint", List.of(new ToolValidation.Finding("TOL-211", "a.py", "os")))
                .toJson(),
            new ToolStaging(
                    TOOL, RolloutStage.CANARY, Optional.of(new Canary(List.of("acme"), 10, true)))
                .toJson())
        .map(Jcs::write);
  }

  private static JsonValue.Obj receipt(Status status, Optional<String> code) {
    Optional<Content> content = Optional.of(new Content(D, 0, "application/json"));
    boolean ok = status == Status.SUCCEEDED;
    return new Receipt(
            SCOPE,
            1,
            D,
            D,
            D,
            D,
            D,
            D,
            new ToolRef("js", "1.0.0", D),
            status,
            code,
            ok ? "ok" : "trap",
            "",
            ok ? content : Optional.empty(),
            ok ? Optional.empty() : content,
            true,
            List.of(new Receipt.Artifact("a.txt", content.get())),
            Optional.of(D),
            Optional.of(D),
            Optional.of(D),
            D,
            "0".repeat(64),
            Optional.of("eu-1"),
            AT,
            AT)
        .toJson();
  }

  @MethodSource("seeds")
  @FuzzTest(maxDuration = "10m")
  void whatIsReadReadsBackAsItself(byte[] bytes) {
    JsonValue json;
    try {
      json = Jcs.parse(bytes);
    } catch (WritException refused) {
      return;
    }
    requireStable(json, Receipt::read, Receipt::toJson);
    requireStable(json, Refusal::read, Refusal::toJson);
    requireStable(json, ExecutionOrder::read, ExecutionOrder::toJson);
    requireStable(json, RunClose::read, RunClose::toJson);
    requireStable(json, RunClosing::read, RunClosing::toJson);
    requireStable(json, Resolution::read, Resolution::toJson);
    requireStable(json, SystemChange::read, SystemChange::toJson);
    requireStable(json, ToolSubmission::read, ToolSubmission::toJson);
    requireStable(json, ToolApproval::read, ToolApproval::toJson);
    if (json instanceof JsonValue.Obj) {
      requireStable(json, d -> ToolValidation.read((JsonValue.Obj) d), ToolValidation::toJson);
      requireStable(json, d -> ToolStaging.read((JsonValue.Obj) d), ToolStaging::toJson);
    }
  }

  /** Members have one form each, so what is read is also written as it was. */
  private static <T> void requireStable(
      JsonValue json, Function<JsonValue, T> read, Function<T, JsonValue.Obj> write) {
    T document;
    try {
      document = read.apply(json);
    } catch (WritException refused) {
      return;
    }
    JsonValue.Obj written = write.apply(document);
    if (!written.equals(json) || !read.apply(Jcs.parse(Jcs.write(written))).equals(document)) {
      throw new AssertionError("a document that changes when it is written");
    }
  }
}
