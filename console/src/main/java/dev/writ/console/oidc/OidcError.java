package dev.writ.console.oidc;

import dev.writ.gateway.http.HttpErrorCode;

/** Why a provider of OpenID Connect signs nobody in. */
public enum OidcError implements HttpErrorCode {
  UNREACHED(
      "GWY-135",
      503,
      "the provider by which people sign in does not answer as it should",
      "Try again; look whether the provider runs, and what `oidc` of the configuration says."),
  NOT_BEGUN(
      "GWY-136",
      403,
      "this browser did not begin that sign-in, or it is over",
      "Begin again at the page for signing in."),
  TOKEN(
      "GWY-137",
      403,
      "what the provider states of the person cannot be believed",
      "Begin again; if it stays so, compare `oidc` of the configuration with the provider's."),
  NOBODY(
      "GWY-138",
      403,
      "the provider's claims make this person nobody here",
      "Have the provider give the person a role or tenant that `oidc` of the configuration names."),
  REFUSED(
      "GWY-139", 403, "the provider did not sign the person in", "Begin again, and agree there.");

  private final Entry entry;
  private final int status;

  OidcError(String code, int status, String meaning, String remedy) {
    this.entry = new Entry(code, meaning, remedy);
    this.status = status;
  }

  @Override
  public Entry entry() {
    return entry;
  }

  @Override
  public int httpStatus() {
    return status;
  }
}
