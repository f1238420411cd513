package dev.writ.ledger;

/** Waiting for a thread's end without giving up on an interrupt, and without losing it. */
final class Threads {
  private Threads() {}

  static void join(Thread thread) {
    boolean interrupted = false;
    while (true) {
      try {
        thread.join();
        break;
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
