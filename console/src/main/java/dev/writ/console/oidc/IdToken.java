package dev.writ.console.oidc;

import dev.writ.canonicalize.json.JsonValue;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * The claims of an ID token (OpenID Connect Core 1.0, 3.1.3.7) whose signature was verified.
 *
 * @param person the provider's name of the person, which it never gives to another
 */
record IdToken(String person, JsonValue.Obj claims) {
  /** By how much clocks may differ. */
  static final Duration SKEW = Duration.ofSeconds(60);

  private static final int PERSON_MAX = 255;

  /**
   * What a token has to be about.
   *
   * @param begunAt when the browser was sent to the provider
   */
  record Expected(String issuer, String clientId, String nonce, Instant begunAt, Instant now) {}

  /**
   * @throws dev.writ.canonicalize.WritException {@code GWY-137}
   */
  static IdToken read(JsonValue.Obj claims, Expected expected) {
    require(
        ProviderAnswer.text(claims, "iss").equals(Optional.of(expected.issuer())),
        "it is of another issuer");
    requireAudience(claims, expected.clientId());
    requireTimes(claims, expected);
    require(
        ProviderAnswer.text(claims, "nonce")
            .filter(n -> Attempts.same(n, expected.nonce()))
            .isPresent(),
        "it is not of this sign-in: nonce");
    String person =
        ProviderAnswer.text(claims, "sub")
            .filter(sub -> !sub.isEmpty() && sub.length() <= PERSON_MAX)
            .orElseThrow(() -> Signatures.refused("it names nobody: sub"));
    return new IdToken(person, claims);
  }

  /** For this client, and for no other that nobody trusts. */
  private static void requireAudience(JsonValue.Obj claims, String clientId) {
    require(
        ProviderAnswer.texts(claims.get("aud")).filter(List.of(clientId)::equals).isPresent(),
        "it is not for this client alone: aud");
    require(
        claims.get("azp") == null
            || ProviderAnswer.text(claims, "azp").equals(Optional.of(clientId)),
        "it was given to another client: azp");
  }

  private static void requireTimes(JsonValue.Obj claims, Expected expected) {
    Instant soon = expected.now().plus(SKEW);
    require(
        time(claims, "exp").filter(expected.now().minus(SKEW)::isBefore).isPresent(),
        "it has expired: exp");
    require(
        time(claims, "iat")
            .filter(at -> !at.isAfter(soon) && !at.isBefore(expected.begunAt().minus(SKEW)))
            .isPresent(),
        "it was not made during this sign-in: iat");
    require(
        claims.get("nbf") == null
            || time(claims, "nbf").filter(at -> !at.isAfter(soon)).isPresent(),
        "it is not valid yet: nbf");
  }

  /** Seconds since 1970, which may have a fraction. */
  private static Optional<Instant> time(JsonValue.Obj claims, String name) {
    return claims.get(name) instanceof JsonValue.Num seconds
            && seconds.value() >= 0
            && seconds.value() < 1e11
        ? Optional.of(Instant.ofEpochSecond((long) seconds.value()))
        : Optional.empty();
  }

  private static void require(boolean holds, String otherwise) {
    if (!holds) {
      throw Signatures.refused(otherwise);
    }
  }
}
