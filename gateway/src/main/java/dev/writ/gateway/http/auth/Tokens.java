package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Bearer tokens (RFC 6750), of which only digests are kept. A token has 256 random bits, so a plain
 * digest cannot be inverted by guessing, and the time of looking one up does not reveal how close a
 * guess was.
 */
public final class Tokens implements Authenticator {
  /** The method's name in {@code origin} and in logs. */
  public static final String METHOD = "bearer";

  /**
   * One token.
   *
   * @param name its name in logs and in {@code origin}
   * @param digest of the token's text
   * @param roles roles that it is narrowed to; empty for all that policy gives the subject
   * @param expiresAt when it expires, if it does
   */
  public record Entry(
      String name,
      Digest digest,
      String tenant,
      String subject,
      List<String> roles,
      Optional<Instant> expiresAt) {
    public Entry {
      roles = List.copyOf(roles);
    }
  }

  private final SortedMap<Digest, Entry> byDigest = new TreeMap<>();

  /**
   * @throws WritException {@code GWY-002} where two have one digest or one name
   */
  public Tokens(List<Entry> entries) {
    for (Entry entry : entries) {
      if (byDigest.put(entry.digest(), entry) != null) {
        throw new WritException(GatewayError.CONFIG_FIELD, "two tokens have one digest");
      }
    }
    if (entries.stream().map(Entry::name).distinct().count() < entries.size()) {
      throw new WritException(GatewayError.CONFIG_FIELD, "two tokens have one name");
    }
  }

  /** A new token's text. */
  public static String generate(SecureRandom random) {
    byte[] secret = new byte[32];
    random.nextBytes(secret);
    return "writ_" + Base64.getUrlEncoder().withoutPadding().encodeToString(secret);
  }

  public static Digest digest(String token) {
    return Digest.sha256(token.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public Optional<Caller> authenticate(String scheme, String credentials, Instant now) {
    if (!scheme.equals("bearer")) {
      return Optional.empty();
    }
    Entry entry = byDigest.get(digest(credentials));
    if (entry == null || entry.expiresAt().filter(end -> !end.isAfter(now)).isPresent()) {
      throw new WritException(GatewayError.NOT_AUTHENTICATED, "the token is not known");
    }
    return Optional.of(caller(entry));
  }

  private static Caller caller(Entry entry) {
    return new Caller(
        METHOD, entry.name(), entry.digest().hex(), entry.tenant(), entry.subject(), entry.roles());
  }

  @Override
  public boolean stillKnows(Caller earlier, Instant now) {
    return earlier.method().equals(METHOD)
        && byDigest.values().stream()
            .filter(entry -> entry.expiresAt().filter(end -> !end.isAfter(now)).isEmpty())
            .map(Tokens::caller)
            .anyMatch(earlier::equals);
  }

  @Override
  public String challenge() {
    return "Bearer";
  }
}
