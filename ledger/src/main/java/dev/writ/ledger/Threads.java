package dev.writ.ledger;

/** Waits for the end of a thread even if interrupted, and restores the interrupt afterwards. */
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
