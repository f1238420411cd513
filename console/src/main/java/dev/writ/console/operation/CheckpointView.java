package dev.writ.console.operation;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * How far a server is with publishing checkpoints. Where they are published is not told.
 *
 * @param every how often
 * @param quorum so many witnesses have to cosign
 * @param note the checkpoint that was published last
 * @param wholeAt when everything had last succeeded
 * @param witnesses those of the configuration
 * @param trouble why nothing could be published anywhere
 */
public record CheckpointView(
    Duration every,
    int quorum,
    Optional<String> note,
    Optional<Instant> wholeAt,
    List<Witness> witnesses,
    List<Place> places,
    List<Stamp> stamps,
    Optional<Trouble> trouble) {
  public CheckpointView {
    witnesses = List.copyOf(witnesses);
    places = List.copyOf(places);
    stamps = List.copyOf(stamps);
  }

  /**
   * A witness.
   *
   * @param key by which the cosignature in the note can be checked
   * @param at when it cosigned the note, by its clock; absent where it did not
   * @param trouble why it did not cosign when it was last asked
   */
  public record Witness(String key, String name, Optional<Instant> at, Optional<Trouble> trouble) {}

  /**
   * A place.
   *
   * @param kind {@code folder} or {@code bucket}
   * @param size of the last checkpoint there; absent where none was published yet
   */
  public record Place(String kind, Optional<Long> size, Optional<Trouble> trouble) {}

  /**
   * A time stamp authority.
   *
   * @param at the time in its stamp of the note; absent where it gave none
   */
  public record Stamp(String name, Optional<Instant> at, Optional<Trouble> trouble) {}

  /**
   * Something in the way.
   *
   * @param code of the refusal
   * @param since when it was that first
   */
  public record Trouble(String code, Instant since) {
    JsonValue.Obj toJson() {
      return JsonValue.object().put("code", code).put("since", since).build();
    }
  }

  JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("every_s", every.toSeconds())
        .put("quorum", quorum)
        .putIfPresent("note", note, JsonValue::of)
        .putIfPresent("whole_at", wholeAt, at -> JsonValue.of(Timestamps.format(at)))
        .putList(
            "witnesses",
            witnesses,
            w ->
                JsonValue.object()
                    .put("key", w.key())
                    .put("name", w.name())
                    .putIfPresent("at", w.at(), at -> JsonValue.of(Timestamps.format(at)))
                    .putIfPresent("trouble", w.trouble(), Trouble::toJson)
                    .build())
        .putList(
            "places",
            places,
            p ->
                JsonValue.object()
                    .put("kind", p.kind())
                    .putIfPresent("size", p.size(), JsonValue::of)
                    .putIfPresent("trouble", p.trouble(), Trouble::toJson)
                    .build())
        .putList(
            "stamps",
            stamps,
            stamp ->
                JsonValue.object()
                    .put("name", stamp.name())
                    .putIfPresent("at", stamp.at(), at -> JsonValue.of(Timestamps.format(at)))
                    .putIfPresent("trouble", stamp.trouble(), Trouble::toJson)
                    .build())
        .putIfPresent("trouble", trouble, Trouble::toJson)
        .build();
  }
}
