package dev.writ.gateway.pipeline;

import dev.writ.executor.Kernel;
import dev.writ.gateway.http.limit.ConcurrencyLimiter;
import dev.writ.gateway.schedule.Lane;
import dev.writ.gateway.statistics.Statistics;

/**
 * The parts behind all surfaces.
 *
 * @param kernel its drivers are {@link Running#cancellable}
 * @param lane where effects of all surfaces wait for their turn
 * @param effects gets every effect that was answered or refused
 * @param statistics of these effects
 */
public record Backend(
    Kernel kernel,
    ConcurrencyLimiter places,
    Running running,
    Changes changes,
    Lane lane,
    EffectObserver effects,
    Statistics statistics) {

  /** With statistics of its own, which count what the observer is told of. */
  public Backend(
      Kernel kernel,
      ConcurrencyLimiter places,
      Running running,
      Changes changes,
      Lane lane,
      EffectObserver effects) {
    Statistics counted = new Statistics(kernel);
    this(kernel, places, running, changes, lane, new CountedEffects(counted, effects), counted);
  }
}
