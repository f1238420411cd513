package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import dev.writ.executor.stage.SignAgain;
import java.time.Duration;
import java.util.List;

/**
 * Gives what keeps the executor's key, such as a KMS that throttles or a token that is away, some
 * ten seconds more for the receipt of an effect that was dispatched. A key that was revoked, or
 * that signs wrongly, will not do otherwise later, and is not waited for.
 */
final class PatientSigning implements SignAgain {
  private static final List<Duration> PAUSES =
      List.of(
          Duration.ofMillis(250),
          Duration.ofSeconds(1),
          Duration.ofSeconds(3),
          Duration.ofSeconds(6));

  private final Pause pause;

  /** Lets time pass. */
  @FunctionalInterface
  interface Pause {
    void of(Duration length) throws InterruptedException;
  }

  PatientSigning(Pause pause) {
    this.pause = pause;
  }

  @Override
  public boolean after(int failures, WritException why) {
    boolean mayPass =
        why.getCause() instanceof WritException told && told.code() instanceof SignerError;
    if (!mayPass || failures > PAUSES.size()) {
      return false;
    }
    try {
      pause.of(PAUSES.get(failures - 1));
      return true;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
