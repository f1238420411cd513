package dev.writ.ledger.event;

/**
 * A run of one tenant: what an event chain belongs to (protocol rule 4).
 *
 * @param tenant 1 to 256 characters, none of them a control character
 * @param run the same
 */
public record RunId(String tenant, String run) implements Comparable<RunId> {
  /**
   * @throws dev.writ.canonicalize.WritException {@code LED-021} for a name that is not allowed
   */
  public RunId {
    Names.check("tenant", tenant);
    Names.check("run", run);
  }

  @Override
  public int compareTo(RunId other) {
    int order = tenant.compareTo(other.tenant);
    return order != 0 ? order : run.compareTo(other.run);
  }

  @Override
  public String toString() {
    return tenant + "/" + run;
  }
}
