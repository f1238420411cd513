package dev.writ.gateway.ops;

import java.util.Optional;
import java.util.function.Supplier;

/**
 * Something that has to be so for the server to take effects: that a sandbox can be started, for
 * example. It is asked at most once a second.
 *
 * @param name a word of lower-case letters and hyphens, in the answer of {@code /ready}
 * @param look quick, and without an exception
 */
public record Probe(String name, Supplier<Result> look) {
  /**
   * @param why the code of what is wrong, or a word that nobody needs to keep secret
   */
  public record Result(boolean ok, Optional<String> why) {
    public static final Result OK = new Result(true, Optional.empty());
    public static final Result NOT_OK = new Result(false, Optional.empty());
  }
}
