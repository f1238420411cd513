package dev.writ.replay.proposal;

import dev.writ.canonicalize.json.JsonValue;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.List;
import java.util.TreeMap;

/**
 * How many calls one subject made: a budget for a day and a rate for a minute. Both have names of
 * their own, so that what was counted while observing can be held to a limit later.
 */
final class SeenAmounts {
  private static final String CALLS_A_DAY = "seen-calls-a-day";
  private static final String CALLS_A_MINUTE = "seen-calls-a-minute";
  private static final long DAY = 86_400;
  private static final long MINUTE = 60;

  /** So many are always allowed: twice as many as few calls is no room. */
  private static final long DAY_LEAST = 50;

  private static final long MINUTE_LEAST = 10;

  private SeenAmounts() {}

  static JsonValue.Obj budget(List<SeenCall> seen) {
    return budget(JsonValue.of(Math.max(DAY_LEAST, 2 * most(seen, DAY))));
  }

  static JsonValue.Obj rate(List<SeenCall> seen) {
    return rate(Math.max(MINUTE_LEAST, 2 * most(seen, MINUTE)));
  }

  /** Counts calls and refuses none. */
  static JsonValue.Obj unlimitedBudget() {
    return budget(JsonValue.of("unlimited"));
  }

  private static JsonValue.Obj budget(JsonValue limit) {
    return JsonValue.object()
        .put("name", CALLS_A_DAY)
        .put("scope", "subject")
        .put("unit", "calls")
        .put("limit", limit)
        .put("window_s", DAY)
        .build();
  }

  static JsonValue.Obj rate(long limit) {
    return JsonValue.object()
        .put("name", CALLS_A_MINUTE)
        .put("scope", "subject")
        .put("limit", limit)
        .put("per_s", MINUTE)
        .build();
  }

  /** Budgets or rates without those of this class. */
  static List<JsonValue.Obj> others(JsonValue list) {
    return ((JsonValue.Arr) list)
        .items().stream()
            .map(JsonValue.Obj.class::cast)
            .filter(one -> !List.of(CALLS_A_DAY, CALLS_A_MINUTE).contains(name(one)))
            .toList();
  }

  private static String name(JsonValue.Obj object) {
    return ((JsonValue.Str) object.get("name")).value();
  }

  /** The most calls within any span of that many seconds. */
  private static long most(List<SeenCall> seen, long seconds) {
    TreeMap<String, ArrayDeque<Instant>> within = new TreeMap<>();
    long most = 0;
    for (SeenCall call : seen) {
      for (String subject : call.inputs().charged()) {
        String key = call.request().scope().tenant() + "\u0000" + subject;
        ArrayDeque<Instant> calls = within.computeIfAbsent(key, _ -> new ArrayDeque<>());
        calls.add(call.at());
        while (!calls.getFirst().isAfter(call.at().minusSeconds(seconds))) {
          calls.removeFirst();
        }
        most = Math.max(most, calls.size());
      }
    }
    return most;
  }
}
