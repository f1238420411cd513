package dev.writ.gateway.v1;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.view.EffectQuery;
import dev.writ.gateway.view.EffectView;
import dev.writ.guardian.document.Verdict;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;

/** Reads from the query of an address which effects, or other rows, are asked for. */
final class EffectQueries {
  private static final int LIMIT = 50;
  private static final int TEXT_MAX = 256;

  /** Those that say which part of the list is asked for. */
  private static final List<String> PLACES = List.of("limit", "before", "after");

  private static final List<String> FILTERS =
      List.of("run", "subject", "tool", "verdict", "state", "code", "from", "to", "text");

  private EffectQueries() {}

  /**
   * @throws WritException {@code GWY-018} for a parameter that is not known too: a filter with a
   *     slip of the pen in its name must not select everything
   */
  static EffectQuery of(HttpCall call) {
    return of(call, Stream.concat(PLACES.stream(), FILTERS.stream()).toList());
  }

  /** The same of what has no places: all that comes. */
  static EffectQuery filters(HttpCall call) {
    return of(call, FILTERS);
  }

  private static EffectQuery of(HttpCall call, List<String> known) {
    requireKnown(call, known);
    return new EffectQuery(
        limit(call, LIMIT, EffectQuery.LIMIT_MAX),
        Bodies.number(call, "before"),
        Bodies.number(call, "after"),
        text(call, "run"),
        text(call, "subject"),
        text(call, "tool"),
        word(call, "verdict", List.of(Verdict.values()), Verdict::name),
        word(call, "state", List.of(EffectView.State.values()), EffectView.State::text),
        text(call, "code"),
        time(call, "from"),
        time(call, "to"),
        text(call, "text"));
  }

  /**
   * @throws WritException {@code GWY-018} for a parameter that is none of those
   */
  static void requireKnown(HttpCall call, List<String> known) {
    call.query().keySet().stream()
        .filter(name -> !known.contains(name))
        .findFirst()
        .ifPresent(name -> {
          throw refused(name, "is not one of " + known);
        });
  }

  /** How many entries of a list are asked for, at least one. */
  static int limit(HttpCall call, int usual, int most) {
    long limit = Bodies.number(call, "limit").orElse((long) usual);
    if (limit < 1 || limit > most) {
      throw refused("limit", "is not between 1 and " + most);
    }
    return Math.toIntExact(limit);
  }

  static Optional<String> text(HttpCall call, String name) {
    Optional<String> text = Bodies.parameter(call, name).filter(value -> !value.isEmpty());
    if (text.filter(value -> value.length() > TEXT_MAX).isPresent()) {
      throw refused(name, "is longer than " + TEXT_MAX);
    }
    return text;
  }

  static <T> Optional<T> word(
      HttpCall call, String name, List<T> values, Function<T, String> toText) {
    return text(call, name)
        .map(given ->
            values.stream()
                .filter(value -> toText.apply(value).equals(given))
                .findFirst()
                .orElseThrow(
                    () -> refused(name, "is not one of " + values.stream().map(toText).toList())));
  }

  static Optional<Instant> time(HttpCall call, String name) {
    return text(call, name)
        .map(given -> {
          try {
            return Timestamps.parse(given);
          } catch (WritException e) {
            throw refused(name, "is no time like 2026-11-21T12:00:00.000Z");
          }
        });
  }

  private static WritException refused(String name, String why) {
    return new WritException(GatewayError.PARAMETER, shown(name) + " " + why);
  }

  private static String shown(String name) {
    return name.length() > 60 ? name.substring(0, 60) + "…" : name;
  }
}
