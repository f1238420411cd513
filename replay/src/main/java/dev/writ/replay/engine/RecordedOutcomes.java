package dev.writ.replay.engine;

import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.driver.DriverFailed;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Result;
import dev.writ.executor.stage.StoreStage;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.verify.bundle.RecordedRun;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * A tool's recorded outcome. Its end and its measurements are taken from the observations and not
 * from the receipt, so that a receipt that contradicts them shows as a divergence.
 */
final class RecordedOutcomes {
  private final RecordedRun recording;

  RecordedOutcomes(RecordedRun recording) {
    this.recording = recording;
  }

  /** The recorded outcome; empty if part of it is not in the bundle. */
  Optional<Supplier<DriverOutcome>> of(Receipt receipt) {
    if (receipt.code().filter(ExecutorError.DRIVER_FAILED.code()::equals).isPresent()) {
      return Optional.of(() -> {
        throw new DriverFailed(receipt.message());
      });
    }
    Optional<byte[]> observed = receipt.observations().flatMap(recording::blob);
    if (observed.isEmpty()) {
      return Optional.empty();
    }
    Optional<Content> content = receipt.output().or(receipt::rawOutput);
    Optional<byte[]> bytes = content.map(Content::digest).flatMap(recording::blob);
    if (content.isPresent() && bytes.isEmpty()) {
      return Optional.empty();
    }
    List<DriverOutcome.Artifact> artifacts = new ArrayList<>();
    for (Receipt.Artifact artifact : receipt.artifacts()) {
      Optional<byte[]> file = recording.blob(artifact.content().digest());
      if (file.isEmpty()) {
        return Optional.empty();
      }
      artifacts.add(
          new DriverOutcome.Artifact(artifact.name(), file.get(), artifact.content().mediaType()));
    }
    DriverOutcome outcome =
        outcome(
            observed.get(),
            content.map(c -> new DriverOutcome.Output(bytes.orElseThrow(), c.mediaType())),
            artifacts);
    return Optional.of(() -> outcome);
  }

  /** Reads what stage 7 writes. */
  private static DriverOutcome outcome(
      byte[] observations,
      Optional<DriverOutcome.Output> output,
      List<DriverOutcome.Artifact> artifacts) {
    Fields fields = Fields.of("observations", Jcs.parse(observations));
    Fields metrics = fields.fields("metrics");
    return new DriverOutcome(
        fields.oneOf("end", List.of(DriverOutcome.End.values()), DriverOutcome.End::text),
        fields.string("reason"),
        fields.string("message"),
        output,
        artifacts,
        new DriverOutcome.Metrics(
            metrics.count("cpu_ms"),
            metrics.count("memory_bytes"),
            metrics.count("wall_ms"),
            metrics.count("fuel")),
        fields.obj("observed"));
  }

  /** The result of stages 5 to 7, as the receipt states it. */
  static StoreStage.Stored stored(Receipt receipt) {
    Result result =
        new Result(
            receipt.status(),
            receipt.code(),
            receipt.reason(),
            receipt.message(),
            Optional.empty(),
            Optional.empty(),
            Optional.empty(),
            List.of());
    return new StoreStage.Stored(
        result,
        receipt.output(),
        receipt.rawOutput(),
        receipt.artifacts(),
        receipt.observations(),
        List.of());
  }

  /** Stands in for an outcome whose content is unknown. */
  static DriverOutcome unknown() {
    return DriverOutcome.failed(
        DriverOutcome.End.FAILED, "as-recorded", "", DriverOutcome.Metrics.NONE);
  }
}
