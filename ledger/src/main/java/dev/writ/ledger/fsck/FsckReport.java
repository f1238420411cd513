package dev.writ.ledger.fsck;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;

/**
 * The result of an examination. It is sound where {@link #problemsTotal} is 0, and then only as far
 * as {@code verified} says.
 *
 * @param verified what was verified, each with its count
 * @param notVerified what was not, each with the reason
 * @param problems the first {@link #PROBLEMS_MAX}
 * @param problemsTotal how many there are in all
 * @param treeSize events in the log
 * @param root the root that was calculated from the raw entries
 */
public record FsckReport(
    List<String> verified,
    List<String> notVerified,
    List<Problem> problems,
    long problemsTotal,
    long treeSize,
    String root) {

  /** Problems that are kept with their text. */
  public static final int PROBLEMS_MAX = 1000;

  /**
   * One problem.
   *
   * @param where the row or file
   * @param found what was computed and what is stored
   */
  public record Problem(String where, String found) {
    @Override
    public String toString() {
      return where + ": " + found;
    }
  }

  public FsckReport {
    verified = List.copyOf(verified);
    notVerified = List.copyOf(notVerified);
    problems = List.copyOf(problems);
  }

  /** The same with what somebody else found. */
  public FsckReport withProblem(String where, String found) {
    List<Problem> all = new ArrayList<>(problems);
    if (all.size() < PROBLEMS_MAX) {
      all.add(new Problem(where, found));
    }
    return new FsckReport(verified, notVerified, all, problemsTotal + 1, treeSize, root);
  }

  public boolean isSound() {
    return problemsTotal == 0;
  }

  /** For {@code --json}. */
  public JsonValue.Obj toJson() {
    return JsonValue.object()
        .putList("not_verified", notVerified, JsonValue::of)
        .putList(
            "problems",
            problems,
            p -> JsonValue.object().put("found", p.found()).put("where", p.where()).build())
        .put("problems_total", problemsTotal)
        .put("root", root)
        .put("sound", isSound())
        .put("tree_size", treeSize)
        .putList("verified", verified, JsonValue::of)
        .build();
  }
}
