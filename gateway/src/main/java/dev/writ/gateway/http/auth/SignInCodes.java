package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One-time codes by which the holder of an enrolled key signs in to the console (spec/console.md,
 * Signing in). Only their digests are kept, in memory. Thread safe.
 */
public final class SignInCodes {
  /** The method, in logs, of a caller that signed in by a key. */
  public static final String METHOD = "key";

  /** The scheme of the Authorization header that carries a code. */
  public static final String SCHEME = "Writ-Code";

  static final Duration LIFE = Duration.ofMinutes(2);
  private static final int MAX = 256;
  private static final int OF_HOLDER_MAX = 16;
  private static final int SECRET_BYTES = 32;

  private final SecureRandom random;
  private final String begin;
  private final LinkedHashMap<Digest, Kept> byDigest = new LinkedHashMap<>();

  private record Kept(Caller caller, Instant end) {}

  /**
   * A new code.
   *
   * @param text what its holder shows, once
   */
  public record Issued(String text, Instant expiresAt) {}

  /**
   * @param begin of each code
   */
  SignInCodes(SecureRandom random, String begin) {
    this.random = random;
    this.begin = begin;
  }

  /**
   * Makes one. The oldest of too many is forgotten, first of those of its own holder, so that
   * nobody has the codes of others forgotten.
   *
   * @param by who showed a signed access document
   */
  public synchronized Issued issue(Caller by, Instant now) {
    byDigest.values().removeIf(kept -> !kept.end.isAfter(now));
    List<Digest> own =
        byDigest.entrySet().stream()
            .filter(entry -> entry.getValue().caller().isOf(by.tenant(), by.subject()))
            .map(Map.Entry::getKey)
            .toList();
    if (own.size() >= OF_HOLDER_MAX) {
      byDigest.remove(own.getFirst());
    } else if (byDigest.size() >= MAX) {
      byDigest.pollFirstEntry();
    }
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    String text = begin + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
    Instant end = now.plus(LIFE);
    byDigest.put(
        digest(text),
        new Kept(new Caller(METHOD, by.principal(), by.tenant(), by.subject(), by.roles()), end));
    return new Issued(text, end);
  }

  /** Forgets those of a subject. */
  synchronized void forget(String tenant, String subject) {
    byDigest.values().removeIf(kept -> kept.caller().isOf(tenant, subject));
  }

  /**
   * Takes one: it counts once.
   *
   * @throws WritException {@code GWY-095}
   */
  synchronized Caller take(String text, Instant now) {
    Kept kept = byDigest.remove(digest(text));
    if (kept == null || !kept.end.isAfter(now)) {
      throw new WritException(GatewayError.SIGN_IN_CODE, "");
    }
    return kept.caller;
  }

  private static Digest digest(String text) {
    return Digest.sha256(text.getBytes(StandardCharsets.UTF_8));
  }
}
