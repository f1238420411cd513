package dev.writ.cli.command.policy;

import dev.writ.cli.home.ConfiguredSurfaces;
import dev.writ.guardian.policy.Policy;
import java.util.List;
import java.util.stream.Stream;

/**
 * Warnings on surfaces that a policy names and no server has: none of them vouches for a subject,
 * and no run is shared by that name.
 */
final class UnknownSurfaces {
  private UnknownSurfaces() {}

  static List<String> of(Policy policy) {
    Stream<String> vouching =
        policy.principals().stream()
            .flatMap(principal ->
                unknown(
                    "principals (" + principal.tenant() + "/" + principal.subject() + ")",
                    principal.surfaces(),
                    "so it vouches for nobody"));
    Stream<String> sharing =
        policy.runs().stream()
            .flatMap(runs -> runs.sharedBy().stream())
            .flatMap(share ->
                unknown(
                    "runs/shared_by (" + share.tenant() + ")",
                    share.surfaces(),
                    "so no run of it is shared"));
    return Stream.concat(vouching, sharing).toList();
  }

  private static Stream<String> unknown(String place, List<String> named, String consequence) {
    return named.stream()
        .filter(surface -> !ConfiguredSurfaces.NAMES.contains(surface))
        .map(surface ->
            place
                + ": there is no surface "
                + surface
                + ", "
                + consequence
                + "; there are "
                + String.join(", ", ConfiguredSurfaces.NAMES));
  }
}
