package dev.writ.canonicalize.trust;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.crypto.Refused;
import dev.writ.canonicalize.crypto.SigningKey;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** An installation has a key for each agent and person, and a trust for each change of them. */
class TrustOfManyKeysTest {
  private static final Instant BEGIN = Instant.parse("2026-01-01T00:00:00Z");
  private static final Instant REVOKED = Instant.parse("2026-06-01T00:00:00Z");
  private static final int KEYS = 20_000;

  private static TrustedKey agent(int n) {
    return new TrustedKey(
        SigningKey.ed25519(ByteBuffer.allocate(32).putInt(n).array()).verifyingKey(),
        KeyRole.AGENT,
        Optional.of("acme"),
        "agent-" + n,
        BEGIN,
        Optional.empty(),
        Optional.empty());
  }

  /** Copied whole, they would take 8 GB: whoever judges a log again keeps some of its states. */
  @Test
  void everyTrustOfManyChangesFitsIntoMemory() {
    List<Trust> all = new ArrayList<>();
    all.add(Trust.of(List.of()));
    for (int n = 0; n < KEYS; n++) {
      all.add(all.getLast().withKey(agent(n)));
    }
    for (int n = 0; n < KEYS; n += 997) {
      Trust then = all.get(n);
      assertThat(then.keys()).hasSize(n);
      assertThat(then.key(agent(n).kid())).as("enrolled later").isEmpty();
      assertThat(all.get(n + 1).key(agent(n).kid())).contains(agent(n));
    }
    assertThat(all.getLast()).isEqualTo(Trust.fromJson(all.getLast().toJson()));
  }

  @Test
  void aChangeLeavesTheTrustBeforeItAsItWas() {
    Trust before = Trust.of(List.of(agent(1), agent(2)));
    Trust revoked = before.withRevoked(agent(1).kid(), REVOKED);
    assertThat(before.key(agent(1).kid())).contains(agent(1));
    assertThat(revoked.key(agent(1).kid()).orElseThrow().revokedAt()).contains(REVOKED);
    assertThat(revoked.beforeRevocation(agent(1).kid())).isEqualTo(before);
    assertThat(before.beforeRevocation(agent(1).kid())).isEqualTo(before);
    Refused.with(CanonicalizeError.KEY_UNKNOWN, () -> before.beforeRevocation(agent(3).kid()));
  }
}
