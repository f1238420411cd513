package dev.writ.gateway.statistics;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * One answer to a request.
 *
 * @param tool its name and version; {@code other} where policy does not know it, so that a caller
 *     cannot make up names
 * @param cost by policy's prices; 0 without one, and for what was not executed
 * @param code why it was denied, refused or failed; absent for others, and where a tool failed
 *     without one
 */
public record Happened(
    String tenant,
    String subject,
    Tool tool,
    Instant at,
    Kind kind,
    OptionalLong durationMs,
    long cost,
    Optional<String> code) {

  /** How it was answered. */
  public enum Kind {
    SUCCEEDED,
    FAILED,
    /** Allowed or not, it was refused before its dispatch without a decision that denies it. */
    REFUSED,
    DENIED,
    WAITING
  }

  /** A version of a tool. */
  public record Tool(String name, String version) implements Comparable<Tool> {
    static final Tool OTHER = new Tool("other", "");

    @Override
    public int compareTo(Tool other) {
      int byName = name.compareTo(other.name);
      return byName != 0 ? byName : version.compareTo(other.version);
    }
  }
}
