package dev.writ.gateway.http.message;

/**
 * A state that a call reached, as its surface states it for the log and for the call's span.
 *
 * @param name a word of a fixed list, never payload
 * @param nanos when it was reached, by the machine's monotonic clock
 */
public record CallState(String name, long nanos) {
  public static CallState now(String name) {
    return new CallState(name, System.nanoTime());
  }
}
