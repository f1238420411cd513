package dev.writ.gateway.schedule;

import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.engine.ResourceClasses;
import java.time.Duration;

/**
 * A call that was allowed, as the scheduler sees it.
 *
 * @param resourceClass {@code small}, {@code medium} or {@code large} (seed 004)
 * @param patience how long it may wait; at most the policy's queue TTL
 */
public record Ticket(
    String tenant, String subject, String tool, String resourceClass, Duration patience) {
  /** To wait as long as policy lets calls wait. */
  public static final Duration AS_POLICY_SAYS = Duration.ofDays(1);

  /** To run at once or not at all. */
  public static final Duration NONE = Duration.ZERO;

  /**
   * For an effect whose caller names no class: the smallest class that covers its declared
   * resources.
   *
   * @param classes of the policy in force
   */
  public static Ticket of(Scope scope, Effect effect, ResourceClasses classes, Duration patience) {
    return new Ticket(
        scope.tenant(),
        scope.subject(),
        effect.tool(),
        classes.leastFor(effect.resources()),
        patience);
  }
}
