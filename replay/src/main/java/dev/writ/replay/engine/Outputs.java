package dev.writ.replay.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.stage.StoreStage;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.retention.ContentClass;
import dev.writ.ledger.MemoryJournal;
import dev.writ.ledger.content.BlobRef;
import dev.writ.verify.bundle.RecordedRun;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The content that stage 7 stores in a replay, kept until the next step to be shown beside the
 * recorded content.
 */
final class Outputs implements StoreStage.ContentStore {
  private final RecordedRun recording;
  private final TreeMap<Digest, byte[]> kept = new TreeMap<>();

  Outputs(RecordedRun recording) {
    this.recording = recording;
  }

  void forget() {
    kept.clear();
  }

  @Override
  public BlobRef store(byte[] content, ContentClass as, Scope scope) {
    BlobRef blob = MemoryJournal.blobOf(content);
    kept.put(blob.digest(), content);
    return blob;
  }

  /** A line by line comparison of the outputs that two receipts name, if they are text. */
  Optional<String> diff(JsonValue recorded, JsonValue replayed) {
    for (String member : new String[] {"output", "raw_output"}) {
      Optional<Content> one = content(recorded, member);
      Optional<Content> other = content(replayed, member);
      if (one.isPresent()
          && other.isPresent()
          && !one.get().digest().equals(other.get().digest())) {
        Optional<byte[]> right = Optional.ofNullable(kept.get(other.get().digest()));
        return recording
            .blob(one.get().digest())
            .flatMap(
                left -> right.flatMap(again -> TextDiff.of(one.get().mediaType(), left, again)));
      }
    }
    return Optional.empty();
  }

  private record Content(Digest digest, String mediaType) {}

  private static Optional<Content> content(JsonValue receipt, String member) {
    if (receipt instanceof JsonValue.Obj object
        && object.get(member) instanceof JsonValue.Obj content
        && content.get("digest") instanceof JsonValue.Str digest
        && content.get("media_type") instanceof JsonValue.Str type) {
      try {
        return Optional.of(new Content(Digest.parse(digest.value()), type.value()));
      } catch (WritException e) {
        return Optional.empty();
      }
    }
    return Optional.empty();
  }
}
