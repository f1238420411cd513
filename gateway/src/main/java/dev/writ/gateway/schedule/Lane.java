package dev.writ.gateway.schedule;

import java.util.function.Supplier;

/** Runs calls that were allowed, once there is room for them. */
public interface Lane {

  /** Runs every call at once. For a pipeline with one caller. */
  Lane DIRECT =
      new Lane() {
        @Override
        public <T> Ran<T> run(Ticket ticket, Supplier<T> work) {
          return new Ran<>(work.get(), 0);
        }
      };

  /**
   * Does the work on the caller's thread when its turn comes.
   *
   * @throws dev.writ.canonicalize.WritException where the queue is full, the quota is used up or
   *     the ticket's patience ends first; the work was not begun then
   */
  <T> Ran<T> run(Ticket ticket, Supplier<T> work);

  /**
   * Work that was done.
   *
   * @param waitedMs how long it waited, in milliseconds
   */
  record Ran<T>(T value, long waitedMs) {}
}
