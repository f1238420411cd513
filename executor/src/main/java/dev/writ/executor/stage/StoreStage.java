package dev.writ.executor.stage;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.stage.Dispatch.Ran;
import dev.writ.guardian.document.Content;
import dev.writ.guardian.document.Receipt;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.content.BlobRef;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Stage 7: content goes into the content-addressed store, and the digest is recomputed from what
 * was stored. Large content is on disk before a batch refers to it.
 */
public final class StoreStage {

  /** Writes content; the result's digest is computed from what was written. */
  @FunctionalInterface
  public interface ContentStore {
    /**
     * @param as what it is to the effect
     * @param scope of the request
     */
    BlobRef store(byte[] content, ContentClass as, Scope scope);
  }

  private final ContentStore contents;

  /** An outcome whose content is stored, or will be with the receipt's batch. */
  public record Stored(
      Result result,
      Optional<Content> output,
      Optional<Content> rawOutput,
      List<Receipt.Artifact> artifacts,
      Optional<Digest> observations,
      List<BlobRef> blobs) {}

  public StoreStage(ContentStore contents) {
    this.contents = contents;
  }

  /** The same without anybody who is told of a failure. */
  public Stored store(Ran ran, Result result, boolean retain) {
    return store(ran, result, retain, StageObserver.NONE);
  }

  /**
   * @param retain whether outputs are kept, beside their digests
   * @param observer is told where something could not be stored
   */
  public Stored store(Ran ran, Result result, boolean retain, StageObserver observer) {
    Keeping keeping = new Keeping(ran.ready().order().request().scope(), retain);
    List<BlobRef> blobs = keeping.blobs;
    try {
      Optional<Content> output = Optional.empty();
      Optional<Content> raw = Optional.empty();
      if (result.succeeded()) {
        output = Optional.of(keeping.keep(result.output().orElseThrow(), ContentClass.OUTPUTS));
      } else if (result.raw().isPresent()) {
        raw = Optional.of(keeping.keep(result.raw().get(), ContentClass.OUTPUTS));
      }
      List<Receipt.Artifact> artifacts = new ArrayList<>();
      for (DriverOutcome.Artifact artifact : result.artifacts()) {
        DriverOutcome.Output content =
            new DriverOutcome.Output(artifact.bytes(), artifact.mediaType());
        artifacts.add(
            new Receipt.Artifact(artifact.name(), keeping.keep(content, ContentClass.ARTIFACTS)));
      }
      Digest observations = observe(ran, keeping);
      return new Stored(result, output, raw, artifacts, Optional.of(observations), blobs);
    } catch (RuntimeException e) {
      // The store refused: the receipt says so, and names no content that was not kept.
      observer.notStored(e);
      return new Stored(
          refused(result, e),
          Optional.empty(),
          Optional.empty(),
          List.of(),
          Optional.empty(),
          List.of());
    }
  }

  private static Result refused(Result result, RuntimeException e) {
    if (e instanceof WritException refusal) {
      ExecutorError code =
          refusal.code() == ExecutorError.STORE_INTEGRITY
              ? ExecutorError.STORE_INTEGRITY
              : ExecutorError.STORE_FAILED;
      return result.refuse(code, refusal.code().code() + " " + refusal.found());
    }
    return result.refuse(ExecutorError.STORE_FAILED, e.getClass().getSimpleName());
  }

  /** What is kept of one effect. */
  private final class Keeping {
    private final Scope scope;
    private final boolean retain;
    private final List<BlobRef> blobs = new ArrayList<>();

    Keeping(Scope scope, boolean retain) {
      this.scope = scope;
      this.retain = retain;
    }

    Content keep(DriverOutcome.Output content, ContentClass as) {
      Digest given = Digest.sha256(content.bytes());
      if (retain) {
        store(content.bytes(), given, as);
      }
      return new Content(given, content.bytes().length, content.mediaType());
    }

    void store(byte[] bytes, Digest given, ContentClass as) {
      BlobRef stored = contents.store(bytes, as, scope);
      if (!stored.digest().equals(given) || stored.size() != bytes.length) {
        throw new WritException(
            ExecutorError.STORE_INTEGRITY, "given " + given + ", stored " + stored.digest());
      }
      blobs.add(stored);
    }
  }

  private static Digest observe(Ran ran, Keeping keeping) {
    byte[] bytes;
    try {
      bytes = Jcs.write(observed(ran.outcome(), ran.outcome().observations()));
    } catch (WritException e) {
      JsonValue.Obj instead = JsonValue.object().put("unwritable", e.code().code()).build();
      bytes = Jcs.write(observed(ran.outcome(), instead));
    }
    Digest digest = Digest.sha256(bytes);
    keeping.store(bytes, digest, ContentClass.OBSERVATIONS);
    return digest;
  }

  private static JsonValue.Obj observed(DriverOutcome outcome, JsonValue.Obj observations) {
    return JsonValue.object()
        .put("end", outcome.end().text())
        .put("reason", outcome.reason())
        .put("message", Result.bounded(outcome.message()))
        .put(
            "metrics",
            JsonValue.object()
                .put("cpu_ms", outcome.metrics().cpuMs())
                .put("memory_bytes", outcome.metrics().memoryBytes())
                .put("wall_ms", outcome.metrics().wallMs())
                .put("fuel", outcome.metrics().fuel())
                .build())
        .put("observed", observations)
        .build();
  }
}
