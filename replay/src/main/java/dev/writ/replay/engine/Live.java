package dev.writ.replay.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.stage.Dispatch.Dispatched;
import dev.writ.executor.stage.StoreStage.Stored;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.Input;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Status;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.verify.bundle.RecordedRun;
import java.util.List;
import java.util.Optional;

/**
 * Decides which tools run again, and which parts of their outcomes must be equal (protocol rule
 * 30).
 */
final class Live {
  private Live() {}

  /** Why a tool does not run again; empty if it does. */
  static Optional<String> unable(
      Dispatched dispatched, Receipt receipt, RecordedTools world, RecordedRun recording) {
    ToolManifest manifest = dispatched.ready().manifest();
    if (manifest.determinism() == Determinism.RECORDED) {
      return Optional.of("their tool is recorded: it cannot be run again");
    }
    if (!world.hasDriver(manifest)) {
      return Optional.of("their tool's driver is not here");
    }
    if (!world.reproduces(manifest)) {
      return Optional.of("their tool's driver is recorded: it cannot be run again");
    }
    if (receipt.status() == Status.TIMED_OUT || receipt.status() == Status.KILLED) {
      return Optional.of("ended by a ceiling of the host, which another host need not reach");
    }
    if (manifest.capabilities().workspace()) {
      return Optional.of("their tool uses the run's workspace, which is not in the bundle");
    }
    for (Input input : dispatched.ready().order().request().effect().inputs()) {
      if (recording.blob(input.digest()).isEmpty()) {
        return Optional.of("an input is not in the bundle");
      }
    }
    return Optional.empty();
  }

  /**
   * The compared parts of an outcome: status, reason and output, not times, metrics or
   * observations.
   */
  static JsonValue comparable(Stored stored) {
    return comparable(
        stored.result().status(),
        stored.result().code(),
        stored.result().reason(),
        stored.result().message(),
        stored.output(),
        stored.rawOutput(),
        stored.artifacts());
  }

  static JsonValue comparable(Receipt receipt) {
    return comparable(
        receipt.status(),
        receipt.code(),
        receipt.reason(),
        receipt.message(),
        receipt.output(),
        receipt.rawOutput(),
        receipt.artifacts());
  }

  private static JsonValue comparable(
      Status status,
      Optional<String> code,
      String reason,
      String message,
      Optional<Content> output,
      Optional<Content> rawOutput,
      List<Receipt.Artifact> artifacts) {
    return JsonValue.object()
        .put("status", status.text())
        .putIfPresent("code", code, JsonValue::of)
        .put("reason", reason)
        .put("message", message)
        .putIfPresent("output", output, Content::toJson)
        .putIfPresent("raw_output", rawOutput, Content::toJson)
        .putList(
            "artifacts",
            artifacts,
            a ->
                JsonValue.object()
                    .put("name", a.name())
                    .put("content", a.content().toJson())
                    .build())
        .build();
  }
}
