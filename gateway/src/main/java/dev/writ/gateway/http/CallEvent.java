package dev.writ.gateway.http;

/**
 * Something that a surface tells of a call, for the log and as an event of the call's span: a
 * stable word, without payload.
 *
 * @param nanos by the machine's monotonic clock
 */
public record CallEvent(String name, long nanos) {
  public static CallEvent now(String name) {
    return new CallEvent(name, System.nanoTime());
  }
}
