package dev.writ.guardian;

import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * Whose a run is that a surface opened: its first subject's, and of those with whom policy shares
 * it. An agent's own run is its key's; that is looked at before anything is judged.
 */
public final class RunOwnership {
  private RunOwnership() {}

  /**
   * Whether a request is refused because its run is somebody else's.
   *
   * @param owner for whom the run was opened; absent where no surface vouches for the request
   */
  public static boolean isForeign(Admitted admitted, Policy policy, Optional<String> owner) {
    // Where the run that was named is another one, the surface found that it may not use it.
    return admitted.request().origin().flatMap(Origin::run).isPresent()
        || isOfAnother(admitted, policy, owner);
  }

  /** Whether the run that a request stands in is somebody else's: nothing is written there. */
  public static boolean isOfAnother(Admitted admitted, Policy policy, Optional<String> owner) {
    Request request = admitted.request();
    return owner
        .filter(subject -> !admitted.charged().contains(subject)) // itself, or on behalf of it
        .filter(subject -> !isShared(request, policy, subject))
        .isPresent();
  }

  private static boolean isShared(Request request, Policy policy, String owner) {
    String tenant = request.scope().tenant();
    String subject = request.scope().subject();
    return request
        .origin()
        .filter(origin ->
            policy.sharesRun(
                tenant,
                origin.surface(),
                request.scope().run(),
                owner,
                subject,
                holdingRoles(policy.rolesOf(tenant, subject), origin.roles())))
        .isPresent();
  }

  /** All roles, or those of them that a caller's credential is narrowed to. */
  public static List<String> holdingRoles(List<String> roles, Optional<List<String>> narrowed) {
    return narrowed.map(only -> roles.stream().filter(only::contains).toList()).orElse(roles);
  }
}
