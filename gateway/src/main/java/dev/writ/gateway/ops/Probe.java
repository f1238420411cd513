package dev.writ.gateway.ops;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * A condition of the server's readiness: that a sandbox can be started, for example. It is checked
 * at most once a second.
 *
 * @param name a word of lower-case letters and hyphens, in the answer of {@code /ready}
 * @param look must be quick, and must not throw
 */
public record Probe(String name, Supplier<Result> look) {
  /**
   * @param why the code of the fault, or a public word
   */
  public record Result(boolean ok, Optional<String> why) {
    public static final Result OK = new Result(true, Optional.empty());
    public static final Result NOT_OK = new Result(false, Optional.empty());
  }
}
