package dev.writ.executor.testing;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** Keys that follow from their names, so that everything repeats. */
public final class TestKeys {
  public static final String TENANT = "acme";
  public static final String OTHER_TENANT = "other";

  private static final Instant NOT_BEFORE = Instant.parse("2026-01-01T00:00:00.000Z");
  private static final Instant NOT_AFTER = Instant.parse("2030-01-01T00:00:00.000Z");

  /** Of names that are used again and again. */
  private static final ConcurrentHashMap<String, SigningKey> KEYS = new ConcurrentHashMap<>();

  private TestKeys() {}

  /** Who is enrolled in every {@link TestHome}. */
  public record Party(String name, KeyRole role, Optional<String> tenant) {
    public SigningKey key() {
      return TestKeys.key(name);
    }

    public TrustedKey trusted() {
      return TestKeys.trusted(name, role, tenant);
    }
  }

  public static final List<Party> PARTIES =
      List.of(
          new Party("operator", KeyRole.OPERATOR, Optional.empty()),
          new Party("owner", KeyRole.POLICY_OWNER, Optional.empty()),
          new Party("guardian", KeyRole.GUARDIAN, Optional.empty()),
          new Party("executor", KeyRole.EXECUTOR, Optional.empty()),
          new Party("alice", KeyRole.AGENT, Optional.of(TENANT)),
          new Party("bob", KeyRole.AGENT, Optional.of(TENANT)),
          new Party("deputy", KeyRole.AGENT, Optional.of(TENANT)),
          new Party("nobody", KeyRole.AGENT, Optional.of(TENANT)),
          new Party("rita", KeyRole.APPROVER, Optional.of(TENANT)),
          new Party("roy", KeyRole.APPROVER, Optional.of(TENANT)),
          new Party("ci", KeyRole.ATTESTOR, Optional.of(TENANT)),
          new Party("eve", KeyRole.AGENT, Optional.of(OTHER_TENANT)),
          new Party("otto", KeyRole.APPROVER, Optional.of(OTHER_TENANT)));

  /** The key of that name, enrolled or not. */
  public static SigningKey key(String name) {
    SigningKey known = KEYS.get(name);
    if (known != null) {
      return known;
    }
    SigningKey key =
        SigningKey.ed25519(
            Digest.sha256(("test key " + name).getBytes(StandardCharsets.UTF_8)).bytes());
    KEYS.put(name, key);
    return key;
  }

  public static TrustedKey trusted(String name, KeyRole role, Optional<String> tenant) {
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
