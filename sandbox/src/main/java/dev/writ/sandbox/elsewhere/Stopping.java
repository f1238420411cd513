package dev.writ.sandbox.elsewhere;

import dev.writ.sandbox.EndReason;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;

/** Why a command has to end before it does by itself; the first reason stays. */
final class Stopping {
  private final AtomicReference<EndReason> reason = new AtomicReference<>();
  private volatile Runnable wake = () -> {};

  /** What ends a wait for the command's end. */
  void wakesBy(Runnable one) {
    wake = one;
  }

  Optional<EndReason> reason() {
    return Optional.ofNullable(reason.get());
  }

  void because(EndReason why) {
    reason.compareAndSet(null, why);
    wake.run();
  }
}
