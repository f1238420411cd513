package dev.writ.tools.wasm;

/**
 * Records once why a guest must stop and interrupts its thread, which Chicory checks in every loop
 * and call. After {@link #end} the thread is no longer interrupted, so a late limit never affects
 * the next guest on it.
 */
final class Stop {
  private Thread thread;
  private String reason;
  private boolean ended;

  /** Asks the guest to stop; the first reason counts. */
  synchronized void request(String why) {
    if (!ended && reason == null) {
      reason = why;
      if (thread != null) {
        thread.interrupt();
      }
    }
  }

  /** The guest begins on the current thread. */
  synchronized void begin() {
    thread = Thread.currentThread();
    if (reason != null) {
      thread.interrupt();
    }
  }

  /** The guest has ended; clears its thread's interrupt. */
  synchronized void end() {
    ended = true;
    thread = null;
    Thread.interrupted();
  }

  /** Why it was asked to stop, or null. */
  synchronized String reason() {
    return reason;
  }
}
