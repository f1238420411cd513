package dev.writ.gateway.http;

import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.message.CallState;
import dev.writ.gateway.http.message.TraceContext;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** Called for every call that ended. It sees no payload and no credential. */
@FunctionalInterface
public interface Observer {

  /**
   * @param surface the surface's name; {@code server} if none was reached
   * @param route the route's path with its placeholders; {@code -} where none was found
   * @param code the code of its refusal
   * @param began when its work began, read from {@link System#nanoTime}
   * @param ended when its answer was ready, by the same clock
   * @param bytes length of the answer's body; negative for a stream
   * @param states that the call reached, in order, where its surface states any
   */
  record Finished(
      String surface,
      String method,
      String route,
      int status,
      Optional<String> code,
      long began,
      long ended,
      long bytes,
      String remote,
      Optional<Caller> caller,
      TraceContext trace,
      Optional<String> request,
      Optional<String> receipt,
      List<CallState> states) {
    public Finished {
      states = List.copyOf(states);
    }

    public Duration took() {
      return Duration.ofNanos(ended - began);
    }

    /** The same, with ids that the answer did not state. */
    public Finished about(Optional<String> aRequest, Optional<String> aReceipt) {
      return new Finished(
          surface,
          method,
          route,
          status,
          code,
          began,
          ended,
          bytes,
          remote,
          caller,
          trace,
          request.or(() -> aRequest),
          receipt.or(() -> aReceipt),
          states);
    }
  }

  void finished(Finished call);

  /**
   * A call starts on the thread that will work on it; {@link #finished} follows on the same thread.
   */
  default void begun(TraceContext trace) {}

  /** Whether the spans of a trace that begins here are kept. */
  default boolean isSampled(String traceId) {
    return false;
  }
}
