package dev.writ.gateway.pipeline;

import dev.writ.executor.Kernel;
import dev.writ.gateway.http.ConcurrencyLimiter;
import dev.writ.gateway.schedule.Lane;

/**
 * The parts behind all surfaces.
 *
 * @param kernel its drivers are {@link Running#cancellable}
 * @param lane where effects of all surfaces wait for their turn
 * @param effects gets every effect that was answered or refused
 */
public record Backend(
    Kernel kernel,
    ConcurrencyLimiter places,
    Running running,
    Changes changes,
    Lane lane,
    EffectObserver effects) {}
