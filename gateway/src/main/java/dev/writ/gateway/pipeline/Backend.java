package dev.writ.gateway.pipeline;

import dev.writ.executor.Answer;
import dev.writ.executor.Kernel;
import dev.writ.gateway.http.ConcurrencyLimiter;
import dev.writ.gateway.schedule.Lane;

/**
 * What surfaces share behind them.
 *
 * @param kernel whose drivers are {@link Running#cancellable}
 * @param lane where effects of all surfaces wait for their turn
 * @param effects is told of every effect that was answered
 */
public record Backend(
    Kernel kernel,
    ConcurrencyLimiter places,
    Running running,
    Changes changes,
    Lane lane,
    EffectObserver effects) {

  /** Is told of every effect that was answered, through whichever surface. */
  @FunctionalInterface
  public interface EffectObserver {
    void answered(String surface, String tenant, String subject, String tool, Answer answer);
  }
}
