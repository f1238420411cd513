package dev.writ.executor.stage;

import java.time.Instant;

/**
 * The kernel's one source of time. Each reading says what it is for, so that a replay can answer
 * with the time that was recorded for that.
 */
public interface KernelTime {
  /** What a reading is for. Those marked as recorded are the {@code at} of an event. */
  enum Reading {
    /** A request comes in; recorded the first time. */
    ADMISSION,
    /** Whether what was allowed before still stands. */
    STANDING,
    /** A request is judged; recorded. */
    JUDGEMENT,
    /** An intent is issued; recorded. */
    INTENT,
    /** Somebody orders that an intent be executed. */
    ORDER,
    /** Stage 1; recorded where stages 1 to 3 refuse. */
    GATE,
    /** The effect is dispatched, or refused for being late; recorded. */
    DISPATCH,
    /** The effect ended; recorded. */
    END,
    /** An approver's word comes in; recorded. */
    APPROVAL,
    /** Recovery finds an effect that nobody saw end; recorded. */
    RECOVERY,
    /** A run is closed; recorded. */
    CLOSING,
    /** An operator's word on a doubt comes in; recorded. */
    RESOLUTION,
    /** The installation is changed; recorded. */
    CHANGE,
    /** Somebody outside asks for the time. */
    OUTSIDE
  }

  /**
   * One reading, in milliseconds.
   *
   * @throws dev.writ.canonicalize.WritException {@code EXE-904} when the clock is behind
   */
  Instant now(Reading what);

  /**
   * One reading for what ends: never before the last one, and never refused. What was dispatched
   * gets its receipt also when the clock went back meanwhile.
   */
  Instant nowOrLatest(Reading what);

  /** The latest reading, without another one. */
  Instant latest();
}
