package dev.writ.guardian.policy.governance;

import dev.writ.guardian.document.Scope;
import java.util.Optional;

/**
 * The input that decides whether a call gets a canary: the subject, or the run for canaries of
 * older documents, in which shares go by runs.
 *
 * @param subject the run's owner if one is known, otherwise the caller
 */
public record CanaryDraw(String tenant, String run, String subject) {

  /**
   * For a request.
   *
   * @param owner the subject that its run was opened for, as its decision records it
   */
  public static CanaryDraw of(Scope scope, Optional<String> owner) {
    return new CanaryDraw(scope.tenant(), scope.run(), owner.orElse(scope.subject()));
  }
}
