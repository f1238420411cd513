package dev.writ.gateway.schedule;

import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Scope;
import dev.writ.guardian.policy.ResourceClasses;
import java.time.Duration;

/**
 * What the scheduler is told of a call that was allowed and waits for its turn.
 *
 * @param resourceClass {@code small}, {@code medium} or {@code large} (seed 004)
 * @param patience how long it may wait; the policy's queue TTL where that is shorter
 */
public record Ticket(
    String tenant, String subject, String tool, String resourceClass, Duration patience) {
  /** For who waits as long as policy lets it. */
  public static final Duration AS_POLICY_SAYS = Duration.ofDays(1);

  /** For who goes at once or not at all. */
  public static final Duration NONE = Duration.ZERO;

  /**
   * For an effect whose caller names no class: the least class that has what it declares.
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
