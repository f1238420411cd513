package dev.writ.executor.stage;

import java.time.Instant;

/**
 * The kernel's one source of time. Each reading states its purpose, so that a replay can return the
 * time that was recorded for it.
 */
public interface KernelTime {
  /** What a reading is for. Those marked as recorded are the {@code at} of an event. */
  enum Reading {
    /** A request comes in; recorded the first time. */
    ADMISSION,
    /** Checks whether an earlier intent is still valid. */
    STANDING,
    /** A request is judged; recorded. */
    JUDGEMENT,
    /** An intent is issued; recorded. */
    INTENT,
    /** An order to execute an intent comes in. */
    ORDER,
    /** Stage 1; recorded where stages 1 to 3 refuse. */
    GATE,
    /** The effect is dispatched, or refused for being late; recorded. */
    DISPATCH,
    /** The effect ended; recorded. */
    END,
    /** An approval or rejection comes in; recorded. */
    APPROVAL,
    /** Recovery finds an effect whose end is unknown; recorded. */
    RECOVERY,
    /** A run is closed; recorded. */
    CLOSING,
    /** An operator's resolution of a receipt in doubt comes in; recorded. */
    RESOLUTION,
    /** The installation is changed; recorded. */
    CHANGE,
    /** A caller outside the kernel asks for a time to record or to sign. */
    OUTSIDE
  }

  /**
   * One reading, in milliseconds.
   *
   * @throws dev.writ.canonicalize.WritException {@code EXE-904} when the clock is behind
   */
  Instant now(Reading what);

  /**
   * One reading for the end of an effect: never before the last one, and never refused, so that an
   * effect gets its receipt even if the clock went back meanwhile.
   */
  Instant nowOrLatest(Reading what);

  /**
   * One reading for what is neither recorded nor signed, such as a check whether the clock fits: a
   * clock that is ahead for that moment alone does not become the time of anything.
   *
   * @throws dev.writ.canonicalize.WritException as {@link #now}
   */
  default Instant look() {
    return now(Reading.OUTSIDE);
  }

  /**
   * One reading for something that may still be refused. What is refused leaves no trace of a clock
   * that is ahead for that moment alone; what is not is kept, by {@link #keep}.
   *
   * @throws dev.writ.canonicalize.WritException as {@link #now}
   */
  default Instant passing(Reading what) {
    return now(what);
  }

  /** Nothing is dated before that {@link #passing} reading from now on. */
  default void keep(Instant passing) {}

  /** The latest reading but {@link #look} and what was not kept; does not read the clock. */
  Instant latest();
}
