package dev.writ.replay.engine;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.ledger.event.RunId;
import dev.writ.replay.error.ReplayError;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A place in which a replay differs from the recording.
 *
 * @param seq of the event in its run
 * @param event its kind; that of the recorded event if there is one
 * @param fields every field that differs; at least one
 * @param lastMatch the last event before it that was the same; −1 if there is none
 * @param seed the seed of the effect, or of the run if it has none
 * @param diff the two outputs line by line, if they are text and differ
 */
public record Divergence(
    Kind kind,
    RunId run,
    long seq,
    String event,
    List<Field> fields,
    long lastMatch,
    String seed,
    Optional<String> diff) {

  /** What differs. */
  public enum Kind {
    /** The event is another one. */
    MISMATCH(ReplayError.DIVERGED),
    /** The recording has an event, the replay has none. */
    MISSING(ReplayError.DIVERGED_MISSING),
    /** The replay has an event, the recording has none. */
    EXTRA(ReplayError.DIVERGED_EXTRA),
    /** A tool that ran again returned something else. */
    OUTCOME(ReplayError.DIVERGED_OUTCOME);

    private final ReplayError code;

    Kind(ReplayError code) {
      this.code = code;
    }

    public ReplayError code() {
      return code;
    }
  }

  /**
   * @param pointer JSON Pointer (RFC 6901) into the event, in which {@code /body} stands for the
   *     document that it names
   * @param recorded canonical JSON; {@code nothing} if it is absent
   * @param replayed the same
   */
  public record Field(String pointer, String recorded, String replayed) {
    /** Longer values are cut in text; JSON output has them whole. */
    private static final int SHOWN_MAX = 200;

    private static String cut(String value) {
      int end =
          value.offsetByCodePoints(0, Math.min(SHOWN_MAX, value.codePointCount(0, value.length())));
      return end == value.length() ? value : value.substring(0, end) + "…";
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("field", pointer)
          .put("recorded", recorded)
          .put("replayed", replayed)
          .build();
    }

    @Override
    public String toString() {
      return "field=" + pointer + " recorded=" + cut(recorded) + " replayed=" + cut(replayed);
    }
  }

  public Divergence {
    fields = List.copyOf(fields);
  }

  /** One line, in the form of spec/replay.md. */
  public String headline() {
    return kind.code().code()
        + " diverged at event "
        + seq
        + " ("
        + event
        + ") run="
        + run
        + " "
        + fields.getFirst()
        + " last-match="
        + lastMatch
        + " seed="
        + seed;
  }

  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .put("code", kind.code().code())
        .put("kind", kind.name().toLowerCase(Locale.ROOT))
        .put("seq", seq)
        .put("event", event)
        .putList("fields", fields, Field::toJson)
        .put("last_match", JsonValue.of(lastMatch))
        .put("seed", seed)
        .putIfPresent("diff", diff, JsonValue::of)
        .build();
  }
}
