package dev.writ.console.oidc;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.message.Headers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Sign-ins that were begun. Nothing is kept of one: state, nonce and PKCE's verifier are made from
 * the random cookie of its browser, by a key of this process. So nobody fills the memory by
 * beginning many, and what comes back counts in the browser alone that began. What was used once is
 * kept until it would be over.
 */
final class Attempts {
  /** For how long a person may take. */
  static final Duration LIFE = Duration.ofMinutes(10);

  private static final int SECRET_BYTES = 32;
  private static final int USED_MAX = 4096;

  private final SecureRandom random;
  private final boolean secure;
  private final byte[] key = new byte[SECRET_BYTES];
  private final LinkedHashMap<Digest, Used> used = new LinkedHashMap<>();

  /** What was used, until when it would count, from what address. */
  private record Used(Instant until, String from) {}

  /**
   * @param secure whether browsers reach the server over TLS
   */
  Attempts(SecureRandom random, boolean secure) {
    this.random = random;
    this.secure = secure;
    random.nextBytes(key);
  }

  /**
   * One sign-in.
   *
   * @param target where the person wanted to go, as the part of an address behind {@code #}
   */
  record Attempt(
      String cookie, String state, String nonce, String verifier, String target, Instant begunAt) {
    /** PKCE (RFC 7636), S256. */
    String challenge() {
      try {
        return base64(
            MessageDigest.getInstance("SHA-256")
                .digest(verifier.getBytes(StandardCharsets.US_ASCII)));
      } catch (GeneralSecurityException e) {
        throw new IllegalStateException(e);
      }
    }
  }

  /**
   * @param about what it is bound to beside the browser: the provider and this server's address
   */
  Attempt begin(String about, String target, Instant now) {
    byte[] secret = new byte[SECRET_BYTES];
    random.nextBytes(secret);
    String cookie =
        now.getEpochSecond()
            + "."
            + base64(secret)
            + "."
            + base64(target.getBytes(StandardCharsets.UTF_8));
    return attempt(about, cookie, target, Instant.ofEpochSecond(now.getEpochSecond()));
  }

  private Attempt attempt(String about, String cookie, String target, Instant begunAt) {
    return new Attempt(
        cookie,
        derived("state", about, cookie),
        derived("nonce", about, cookie),
        derived("verifier", about, cookie),
        target,
        begunAt);
  }

  private String derived(String what, String about, String cookie) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return base64(
          mac.doFinal((what + "\n" + about + "\n" + cookie).getBytes(StandardCharsets.UTF_8)));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  /**
   * The sign-in that a browser comes back from. It counts once.
   *
   * @param state as it came back
   * @param from the address that it came from
   * @throws WritException {@code GWY-136}
   */
  Attempt end(String about, Headers headers, String state, String from, Instant now) {
    String cookie = shown(headers).orElseThrow(() -> refused("the browser shows no cookie of one"));
    String[] parts = cookie.split("\\.", -1);
    if (parts.length != 3 || !parts[0].matches("[0-9]{1,12}")) {
      throw refused("the cookie cannot be read");
    }
    Instant begunAt = Instant.ofEpochSecond(Long.parseLong(parts[0]));
    Attempt attempt = attempt(about, cookie, target(parts[2]), begunAt);
    if (!same(attempt.state(), state)) {
      throw refused("its state is of another sign-in");
    }
    if (now.isAfter(begunAt.plus(LIFE)) || now.isBefore(begunAt)) {
      throw refused("it took longer than " + LIFE);
    }
    use(state, new Used(begunAt.plus(LIFE), from), now);
    return attempt;
  }

  private static String target(String encoded) {
    try {
      return new String(Base64.getUrlDecoder().decode(encoded), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      throw new WritException(OidcError.NOT_BEGUN, "the cookie cannot be read", e);
    }
  }

  private synchronized void use(String state, Used now, Instant at) {
    used.values().removeIf(each -> at.isAfter(each.until()));
    Digest digest = Digest.sha256(state.getBytes(StandardCharsets.UTF_8));
    if (used.putIfAbsent(digest, now) != null) {
      throw refused("it has come back before");
    }
    if (used.size() > USED_MAX) {
      forgetOne();
    }
  }

  /** The oldest of the address that has most: whoever ends thousands has his own forgotten. */
  private void forgetOne() {
    Map<String, Integer> ofEach = new HashMap<>();
    used.values().forEach(each -> ofEach.merge(each.from(), 1, Integer::sum));
    String most = Collections.max(ofEach.entrySet(), Map.Entry.comparingByValue()).getKey();
    Iterator<Used> oldest = used.values().iterator();
    while (!oldest.next().from().equals(most)) {}
    oldest.remove();
  }

  private static WritException refused(String found) {
    return new WritException(OidcError.NOT_BEGUN, found);
  }

  private String name() {
    return secure ? "__Host-writ-sign-in" : "writ-sign-in";
  }

  /** The header that gives a browser its cookie. It comes back with a link from the provider. */
  String set(Attempt attempt) {
    return header(attempt.cookie(), LIFE.toSeconds());
  }

  /** The header that makes a browser forget it. */
  String forgotten() {
    return header("", 0);
  }

  private String header(String value, long seconds) {
    return name()
        + "="
        + value
        + "; Path=/; HttpOnly; SameSite=Lax; Max-Age="
        + seconds
        + (secure ? "; Secure" : "");
  }

  private Optional<String> shown(Headers headers) {
    String begin = name() + "=";
    return headers.all("cookie").stream()
        .flatMap(line -> List.of(line.split(";", -1)).stream())
        .map(String::strip)
        .filter(pair -> pair.startsWith(begin))
        .map(pair -> pair.substring(begin.length()))
        .filter(value -> !value.isEmpty())
        .findFirst();
  }

  private static String base64(byte[] bytes) {
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  static boolean same(String a, String b) {
    return MessageDigest.isEqual(
        a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
  }
}
