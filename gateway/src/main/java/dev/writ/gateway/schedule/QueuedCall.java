package dev.writ.gateway.schedule;

/** A call in a {@link FairQueue}: it waits, then it runs, then it is over. */
final class QueuedCall {
  /** How far it has come. */
  enum State {
    WAITING,
    RUNNING,
    OVER
  }

  final Ticket ticket;
  final long enteredNs;
  private State state = State.WAITING;
  private long startedNs;
  private long expectedNs;

  QueuedCall(Ticket ticket, long enteredNs) {
    this.ticket = ticket;
    this.enteredNs = enteredNs;
  }

  State state() {
    return state;
  }

  void start(long nowNs, long expected) {
    state = State.RUNNING;
    startedNs = nowNs;
    expectedNs = expected;
  }

  void end() {
    state = State.OVER;
  }

  /** How long it has run by now. */
  long elapsedNs(long nowNs) {
    return Math.max(0, nowNs - startedNs);
  }

  /**
   * What its tenant is charged for it so far: the expected time, or the elapsed time if that is
   * longer.
   */
  long chargedNs(long nowNs) {
    return Math.max(expectedNs, elapsedNs(nowNs));
  }

  /** How long it waited for its turn. */
  long waitedNs() {
    return Math.max(0, startedNs - enteredNs);
  }
}
