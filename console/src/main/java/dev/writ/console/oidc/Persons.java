package dev.writ.console.oidc;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.gateway.http.auth.Caller;
import dev.writ.gateway.http.auth.OidcCallers;
import dev.writ.gateway.http.auth.OidcSettings;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;

/** Who somebody is here, by what the provider states. */
final class Persons {
  private static final int NAME_MAX = 256;

  private Persons() {}

  /**
   * @throws WritException {@code GWY-138}
   */
  static Caller caller(OidcSettings settings, IdToken token) {
    OidcSettings.People people = settings.people();
    return OidcCallers.caller(
        settings,
        token.person(),
        tenant(people, token.claims()),
        subject(people, token.claims()),
        roles(people, token.claims()));
  }

  private static String subject(OidcSettings.People people, JsonValue.Obj claims) {
    String claim = people.subjectClaim();
    if (claim.equals("email") && !JsonValue.TRUE.equals(claims.get("email_verified"))) {
      throw nobody("the provider has not verified the address: email_verified");
    }
    return ProviderAnswer.text(claims, claim)
        .filter(Persons::isName)
        .orElseThrow(() -> nobody("no name in the claim " + claim));
  }

  /** As names of the configuration are. */
  private static boolean isName(String text) {
    return !text.isBlank()
        && text.length() <= NAME_MAX
        && text.codePoints()
            .noneMatch(c ->
                Character.isISOControl(c)
                    || Character.getType(c) == Character.FORMAT
                    || Character.getType(c) == Character.SURROGATE);
  }

  /** A claim chooses between tenants that the configuration names, and makes up none. */
  private static String tenant(OidcSettings.People people, JsonValue.Obj claims) {
    if (people.tenant().isPresent()) {
      return people.tenant().get();
    }
    String claim = people.tenantClaim().orElseThrow();
    return ProviderAnswer.text(claims, claim)
        .flatMap(value -> Optional.ofNullable(people.tenants().get(value)))
        .orElseThrow(() -> nobody("no tenant for the claim " + claim));
  }

  /** None of the roles is nobody: an empty list would be somebody who is not narrowed. */
  private static List<String> roles(OidcSettings.People people, JsonValue.Obj claims) {
    if (people.rolesClaim().isEmpty()) {
      return List.of();
    }
    JsonValue found = claims;
    for (String name : people.rolesClaim()) {
      found = found instanceof JsonValue.Obj in ? in.get(name) : null;
    }
    TreeSet<String> roles = new TreeSet<>();
    for (String theirs : ProviderAnswer.texts(found).orElse(List.of())) {
      roles.addAll(people.roles().getOrDefault(theirs, List.of()));
    }
    if (roles.isEmpty()) {
      throw nobody("no role for the claim " + String.join("/", people.rolesClaim()));
    }
    return List.copyOf(roles);
  }

  private static WritException nobody(String found) {
    return new WritException(OidcError.NOBODY, found);
  }
}
