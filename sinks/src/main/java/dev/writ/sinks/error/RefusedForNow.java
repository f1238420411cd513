package dev.writ.sinks.error;

import dev.writ.canonicalize.WritException;
import java.time.Duration;

/** A target that does not want to be asked again at once, or should not be. */
public final class RefusedForNow extends WritException {
  private static final long serialVersionUID = 1L;

  private final Duration pause;

  /**
   * @param pause the least time until another attempt
   */
  public RefusedForNow(Duration pause, String found, Throwable cause) {
    super(SinkError.REFUSED, found, cause);
    this.pause = pause;
  }

  public Duration pause() {
    return pause;
  }
}
