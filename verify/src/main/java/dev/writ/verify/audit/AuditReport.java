package dev.writ.verify.audit;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.json.JsonValue;
import java.util.List;

/**
 * The result of an audit. The ledger is sound where {@link #problemsTotal} is 0, and then only as
 * far as {@code verified} says.
 *
 * @param verified what was verified, each with its count
 * @param notVerified what was not, each with the reason
 * @param problems the first {@link #PROBLEMS_MAX}
 * @param problemsTotal how many there are in all
 */
public record AuditReport(
    List<String> verified,
    List<String> notVerified,
    List<Problem> problems,
    long problemsTotal,
    Totals totals) {
  /** Problems that are kept with their text. */
  public static final int PROBLEMS_MAX = 1000;

  /**
   * One problem.
   *
   * @param place the event or the row, and a JSON Pointer (RFC 6901) into its document, if one
   *     member is concerned
   * @param recorded what the ledger holds
   * @param recomputed what it should hold
   */
  public record Problem(ErrorCode code, String place, String recorded, String recomputed) {
    @Override
    public String toString() {
      return code.code()
          + " "
          + place
          + ": "
          + code.meaning()
          + ": recorded "
          + recorded
          + ", recomputed "
          + recomputed;
    }

    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("code", code.code())
          .put("place", place)
          .put("recorded", recorded)
          .put("recomputed", recomputed)
          .build();
    }
  }

  /** How much was looked at. */
  public record Totals(
      long events, long runs, long requests, long decisions, long dispatched, long receipts) {
    JsonValue.Obj toJson() {
      return JsonValue.object()
          .put("events", events)
          .put("runs", runs)
          .put("requests", requests)
          .put("decisions", decisions)
          .put("dispatched", dispatched)
          .put("receipts", receipts)
          .build();
    }
  }

  public AuditReport {
    verified = List.copyOf(verified);
    notVerified = List.copyOf(notVerified);
    problems = List.copyOf(problems);
  }

  public boolean isSound() {
    return problemsTotal == 0;
  }

  /** For {@code --json}. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("not_verified", notVerified, JsonValue::of)
        .putList("problems", problems, Problem::toJson)
        .put("problems_total", problemsTotal)
        .put("sound", isSound())
        .put("totals", totals.toJson())
        .putList("verified", verified, JsonValue::of)
        .build();
  }
}
