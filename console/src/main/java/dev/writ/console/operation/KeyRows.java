package dev.writ.console.operation;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.canonicalize.trust.TrustedKey;
import java.time.Instant;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** The enrolled keys of a tenant and of the installation; those that end first come first. */
final class KeyRows {
  private static final int ROWS_MAX = 1_000;

  private KeyRows() {}

  /** Where a key stands; in this order they are listed. */
  private enum State {
    VALID,
    EARLY,
    EXPIRED,
    REVOKED;

    static State of(TrustedKey key, Instant now) {
      if (key.revokedAt().isPresent()) {
        return REVOKED;
      }
      if (key.isValidAt(now)) {
        return VALID;
      }
      return now.isBefore(key.notBefore()) ? EARLY : EXPIRED;
    }

    String word() {
      return switch (this) {
        case VALID -> "valid";
        case EARLY -> "not-yet";
        case EXPIRED -> "expired";
        case REVOKED -> "revoked";
      };
    }
  }

  static JsonValue.Obj of(Collection<TrustedKey> enrolled, String tenant, Instant now) {
    List<TrustedKey> all =
        enrolled.stream()
            .filter(key -> key.tenant().filter(of -> !of.equals(tenant)).isEmpty())
            .sorted(
                Comparator.comparing((TrustedKey key) -> State.of(key, now))
                    .thenComparing(key -> key.notAfter().orElse(Instant.MAX))
                    .thenComparing(TrustedKey::subject)
                    .thenComparing(TrustedKey::kid))
            .toList();
    return JsonValue.object()
        .put("now", now)
        .putList("keys", all.stream().limit(ROWS_MAX).toList(), key -> row(key, now))
        .put("complete", all.size() <= ROWS_MAX)
        .build();
  }

  private static JsonValue.Obj row(TrustedKey key, Instant now) {
    return JsonValue.object()
        .put("id", key.kid())
        .put("algorithm", key.key().algorithm().text())
        .put("role", key.role().text())
        .put("subject", key.subject())
        .putIfPresent("tenant", key.tenant(), JsonValue::of)
        .put("state", State.of(key, now).word())
        .put("not_before", key.notBefore())
        .putIfPresent("not_after", key.notAfter(), KeyRows::time)
        .putIfPresent("revoked_at", key.revokedAt(), KeyRows::time)
        .build();
  }

  private static JsonValue time(Instant at) {
    return JsonValue.of(Timestamps.format(at));
  }
}
