package dev.writ.guardian.policy;

import dev.writ.guardian.document.Scope;
import java.util.Optional;

/**
 * What decides whether a call meets a canary. The subject counts; the run, whose name the caller
 * chooses, only for a canary whose document is from before shares went by subjects.
 *
 * @param subject the run's owner where one is known, else who asks
 */
public record CanaryDraw(String tenant, String run, String subject) {

  /**
   * Of a request.
   *
   * @param owner for whom its run was opened, as its decision records it
   */
  public static CanaryDraw of(Scope scope, Optional<String> owner) {
    return new CanaryDraw(scope.tenant(), scope.run(), owner.orElse(scope.subject()));
  }
}
