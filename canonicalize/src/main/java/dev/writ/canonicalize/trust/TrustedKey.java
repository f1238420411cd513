package dev.writ.canonicalize.trust;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import java.time.Instant;
import java.util.Optional;

/**
 * A key as the trust file enrols it. Its times have milliseconds, as documents write them.
 *
 * @param tenant the one tenant it may act in; empty for keys of the installation (guardian, …)
 * @param subject who holds it, by name
 * @param notBefore start of its validity, inclusive
 * @param notAfter end of its validity, exclusive
 * @param revokedAt when it was revoked; it still verifies documents that the log holds before the
 *     revocation
 */
public record TrustedKey(
    VerifyingKey key,
    KeyRole role,
    Optional<String> tenant,
    String subject,
    Instant notBefore,
    Optional<Instant> notAfter,
    Optional<Instant> revokedAt) {

  /**
   * @throws WritException {@code CAN-023} for a window that holds no time; {@code CAN-069} for a
   *     passkey in a role in which no person signs; {@code CAN-079} for an ES256 key of the log
   */
  public TrustedKey {
    notBefore = Timestamps.truncate(notBefore);
    notAfter = notAfter.map(Timestamps::truncate);
    revokedAt = revokedAt.map(Timestamps::truncate);
    if (key.algorithm() == Algorithm.WEBAUTHN && !role.isOfPeople()) {
      throw new WritException(
          CanonicalizeError.WEBAUTHN_ROLE, "key " + key.kid() + " of role " + role.text());
    }
    if (key.algorithm() == Algorithm.ES256 && role == KeyRole.LOG) {
      throw new WritException(
          CanonicalizeError.KEY_ROLE_ALGORITHM, key.algorithm().text() + " key " + key.kid());
    }
    if (notAfter.isPresent() && !notBefore.isBefore(notAfter.get())) {
      throw new WritException(
          CanonicalizeError.FIELD_VALUE,
          "key " + key.kid() + " ends at " + notAfter.get() + ", not after " + notBefore);
    }
  }

  public String kid() {
    return key.kid();
  }

  /** Whether the key's validity window holds that time. */
  public boolean isValidAt(Instant time) {
    return !time.isBefore(notBefore) && notAfter.filter(end -> !time.isBefore(end)).isEmpty();
  }

  /** Whether two keys are of one holder: the same subject, in the same role and tenant. */
  public boolean sameHolder(TrustedKey other) {
    return role == other.role && tenant.equals(other.tenant) && subject.equals(other.subject);
  }

  TrustedKey withNotAfter(Instant end) {
    return new TrustedKey(key, role, tenant, subject, notBefore, Optional.of(end), revokedAt);
  }

  TrustedKey withRevokedAt(Instant time) {
    return new TrustedKey(key, role, tenant, subject, notBefore, notAfter, Optional.of(time));
  }

  TrustedKey withoutRevocation() {
    return new TrustedKey(key, role, tenant, subject, notBefore, notAfter, Optional.empty());
  }

  /** The key's JWK with our members beside those of the JWK (spec/keys.md). */
  public JsonValue.Obj toJson() {
    var jwk = JsonValue.object();
    key.toJwk().members().forEach(jwk::put);
    return jwk.put("writ_role", role.text())
        .putIfPresent("writ_tenant", tenant, JsonValue::of)
        .put("writ_subject", subject)
        .put("writ_not_before", notBefore)
        .putIfPresent("writ_not_after", notAfter, t -> JsonValue.of(Timestamps.format(t)))
        .putIfPresent("writ_revoked_at", revokedAt, t -> JsonValue.of(Timestamps.format(t)))
        .build();
  }

  public static TrustedKey fromJson(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    TrustedKey key =
        new TrustedKey(
            VerifyingKey.readJwk(fields),
            fields.oneOf("writ_role", KeyRole.ALL, KeyRole::text),
            fields.optional("writ_tenant", fields::name),
            fields.name("writ_subject"),
            fields.time("writ_not_before"),
            fields.optional("writ_not_after", fields::time),
            fields.optional("writ_revoked_at", fields::time));
    fields.end();
    return key;
  }
}
