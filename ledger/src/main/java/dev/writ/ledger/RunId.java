package dev.writ.ledger;

import java.util.Comparator;

/**
 * A run of one tenant: what an event chain belongs to (protocol rule 4).
 *
 * @param tenant 1 to 256 characters, none of them a control character
 * @param run the same
 */
public record RunId(String tenant, String run) implements Comparable<RunId> {
  private static final Comparator<RunId> ORDER =
      Comparator.comparing(RunId::tenant).thenComparing(RunId::run);

  /**
   * @throws dev.writ.canonicalize.WritException {@code LED-021} for a name that is not allowed
   */
  public RunId {
    Names.check("tenant", tenant);
    Names.check("run", run);
  }

  @Override
  public int compareTo(RunId other) {
    return ORDER.compare(this, other);
  }

  @Override
  public String toString() {
    return tenant + "/" + run;
  }
}
