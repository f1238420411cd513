package dev.writ.grpc;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.schedule.LaneError;
import dev.writ.surfaces.tools.ExecCalls;
import java.util.Optional;

/**
 * Ends the command of a call that was cancelled or whose deadline is over. A command that has not
 * begun does not begin. Thread safe.
 */
final class Cancellation {
  private final ExecCalls calls;
  private final Caller caller;
  private Optional<Digest> running = Optional.empty();
  private boolean cancelled;

  Cancellation(ExecCalls calls, Caller caller) {
    this.calls = calls;
    this.caller = caller;
  }

  /**
   * The effect of that request begins.
   *
   * @throws WritException {@code GWY-084} where nobody waits for it any more
   */
  synchronized void begins(Digest request) {
    if (cancelled) {
      throw new WritException(LaneError.GIVEN_UP, "the caller has cancelled it");
    }
    running = Optional.of(request);
  }

  synchronized void cancel() {
    cancelled = true;
    if (running.isPresent()) {
      try {
        calls.cancel(caller, running.get());
      } catch (WritException e) {
        if (e.code() != GatewayError.NOT_CANCELLED) { // it has ended
          throw e;
        }
      }
    }
  }
}
