package dev.writ.sinks.feed;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sinks.error.SinkError;
import java.util.Locale;
import java.util.Optional;

/**
 * What an operator wants of a sink.
 *
 * @param from of a replay: the position in the log from which everything is delivered again; of
 *     another sending: the position of the one record
 */
public record SinkOrder(Action action, long from) {
  /** What to do. */
  public enum Action {
    PAUSE,
    RESUME,
    REPLAY,
    RESEND;

    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /**
   * @throws WritException {@code SNK-006}
   */
  static SinkOrder parse(byte[] bytes) {
    try {
      Fields fields = Fields.of("order", Jcs.parse(bytes));
      String word = fields.name("action");
      SinkOrder order =
          new SinkOrder(Action.valueOf(word.toUpperCase(Locale.ROOT)), fields.count("from"));
      fields.end();
      return order;
    } catch (WritException | IllegalArgumentException e) {
      throw new WritException(SinkError.ORDER, "its file cannot be read", e);
    }
  }

  byte[] toBytes() {
    return Jcs.write(JsonValue.object().put("action", action.text()).put("from", from).build());
  }

  /**
   * The state that follows.
   *
   * @param logSize events in the log
   * @throws WritException {@code SNK-006} for a position outside of the log
   */
  public SinkState applied(SinkState state, long logSize) {
    return switch (action) {
      case PAUSE -> state.paused(true);
      case RESEND -> state;
      case RESUME -> state.paused(false);
      case REPLAY -> {
        if (from > logSize) {
          throw new WritException(SinkError.ORDER, "from " + from + ", the log has " + logSize);
        }
        yield new SinkState(
            from, Optional.empty(), state.delivered(), state.paused(), state.trouble());
      }
    };
  }
}
