package dev.writ.guardian;

import dev.writ.guardian.document.Origin;
import dev.writ.guardian.document.Request;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.Optional;

/**
 * The ownership of runs that surfaces opened: they belong to the subject of the first request, and
 * to those with whom policy shares them. An agent's own run belongs to its key, which is checked
 * before judging.
 */
public final class RunOwnership {
  private RunOwnership() {}

  /**
   * Whether a request is refused because its run belongs to another subject.
   *
   * @param owner the subject that the run was opened for; absent if no surface vouches for the
   *     request
   */
  public static boolean isForeign(Admitted admitted, Policy policy, Optional<String> owner) {
    // An origin that names another run says that the surface may not use that run for this subject.
    return admitted.request().origin().flatMap(Origin::run).isPresent()
        || isOfAnother(admitted, policy, owner);
  }

  /** Whether the request's own run belongs to another subject: nothing is written there then. */
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
