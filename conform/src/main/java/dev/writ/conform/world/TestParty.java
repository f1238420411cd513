package dev.writ.conform.world;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Optional;

/**
 * Somebody in a scenario. The secret follows from the name, so that every implementation can sign
 * for him and nobody may ever trust him.
 */
public record TestParty(String name, KeyRole role, Optional<String> tenant) {
  private static final Instant NOT_BEFORE = Instant.parse("2026-01-01T00:00:00.000Z");
  private static final Instant NOT_AFTER = Instant.parse("2030-01-01T00:00:00.000Z");

  static TestParty read(String path, JsonValue value) {
    Fields fields = Fields.of(path, value);
    TestParty party =
        new TestParty(
            fields.name("name"),
            fields.oneOf("role", KeyRole.ALL, KeyRole::text),
            fields.optional("tenant", fields::name));
    fields.end();
    return party;
  }

  /** The Ed25519 key whose secret is SHA-256 of {@code test key NAME}. */
  public static SigningKey key(String name) {
    return SigningKey.ed25519(
        Digest.sha256(("test key " + name).getBytes(StandardCharsets.UTF_8)).bytes());
  }

  TrustedKey trusted() {
    return new TrustedKey(
        key(name).verifyingKey(),
        role,
        tenant,
        name,
        NOT_BEFORE,
        Optional.of(NOT_AFTER),
        Optional.empty());
  }
}
