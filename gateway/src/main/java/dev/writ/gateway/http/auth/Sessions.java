package dev.writ.gateway.http.auth;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.Headers;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.SecureRandom;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Who is signed in by a browser (spec/console.md). A session is 256 random bits in a cookie that no
 * script reads; only their digest is kept, in memory. Thread safe.
 */
public final class Sessions {
  /** The method's name in logs. */
  public static final String METHOD = "session";

  static final Duration IDLE_MAX = Duration.ofMinutes(30);
  static final Duration LIFE_MAX = Duration.ofHours(12);

  /** By how much clocks are set back without anybody's notice. */
  private static final Duration AHEAD_MAX = Duration.ofMinutes(1);

  private static final int OF_CREDENTIAL_MAX = 16;
  private static final int MAX = 4096;
  private static final int SECRET_BYTES = 32;

  private final SecureRandom random;
  private final boolean secure;
  private final String begin;
  private final SignInCodes codes;
  private final LinkedHashMap<Digest, Kept> byDigest = new LinkedHashMap<>();
  private volatile Optional<OidcProvider> provider = Optional.empty();

  /** What is kept of a session. */
  private static final class Kept {
    final Caller by;
    final String csrf;
    final Instant opened;
    final Instant end;
    Instant seen;

    Kept(Caller by, String csrf, Instant now) {
      this.by = by;
      this.csrf = csrf;
      Instant longest = now.plus(LIFE_MAX);
      this.end = by.until().filter(longest::isAfter).orElse(longest);
      this.opened = now;
      this.seen = now;
    }

    boolean isOver(Instant now) {
      return !isOpen(now) || !seen.plus(IDLE_MAX).isAfter(now);
    }

    /** One that was opened while the clock was ahead would last longer by as much. */
    boolean isOpen(Instant now) {
      return end.isAfter(now) && !opened.minus(AHEAD_MAX).isAfter(now);
    }
  }

  /**
   * A session as its page sees it.
   *
   * @param by the credential that opened it
   * @param csrf what calls that change something have to show
   * @param endsAt at the latest
   */
  public record Seen(Digest id, Caller by, String csrf, Instant endsAt) {}

  /**
   * @param secure whether browsers reach the server over TLS
   */
  public Sessions(SecureRandom random, boolean secure) {
    this(random, secure, "");
  }

  private Sessions(SecureRandom random, boolean secure, String begin) {
    this.random = random;
    this.secure = secure;
    this.begin = begin;
    this.codes = new SignInCodes(random, begin);
  }

  /** Those of one cell of several: the number before each secret says where its calls belong. */
  public static Sessions ofCell(SecureRandom random, boolean secure, int cell) {
    return new Sessions(random, secure, cell + ".");
  }

  /** The codes by which holders of keys sign in. */
  public SignInCodes codes() {
    return codes;
  }

  /** Puts a provider in force by whom people sign in, or none. */
  public void signInBy(Optional<OidcProvider> next) {
    provider = next;
  }

  /** By whom people sign in now. */
  public Optional<OidcProvider> provider() {
    return provider;
  }

  /** Whether browsers reach the server over TLS. */
  public boolean isSecure() {
    return secure;
  }

  /**
   * Opens one. Who was signed in before in the same browser gets a new session all the same, so
   * that nobody can prepare one for somebody else. For whom a provider speaks has no credential
   * beside it that could end theirs, so the one that they have not used for longest ends.
   *
   * @param by an authenticated caller
   * @return the header {@code Set-Cookie}
   * @throws WritException {@code GWY-093}
   */
  public synchronized String open(Caller by, Instant now) {
    byDigest.values().removeIf(kept -> kept.isOver(now));
    List<Map.Entry<Digest, Kept>> all =
        byDigest.entrySet().stream().filter(entry -> entry.getValue().by.equals(by)).toList();
    int own = all.size();
    if (own >= OF_CREDENTIAL_MAX && by.method().equals(OidcCallers.METHOD)) {
      byDigest.remove(
          all.stream()
              .min(Comparator.comparing(entry -> entry.getValue().seen))
              .orElseThrow()
              .getKey());
      own--;
    }
    if (own >= OF_CREDENTIAL_MAX || byDigest.size() >= MAX) {
      throw new WritException(
          GatewayError.SESSIONS_MANY, own + " of the credential, " + byDigest.size() + " in all");
    }
    String secret = begin + secret();
    byDigest.put(digest(secret), new Kept(by, secret(), now));
    return cookie(secret, LIFE_MAX.toSeconds());
  }

  private String secret() {
    byte[] bytes = new byte[SECRET_BYTES];
    random.nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  private static Digest digest(String secret) {
    return Digest.sha256(secret.getBytes(StandardCharsets.UTF_8));
  }

  /** A browser takes a cookie of this name only over TLS, from this host and for all of it. */
  private String name() {
    return secure ? "__Host-writ-session" : "writ-session";
  }

  private String cookie(String value, long seconds) {
    return name()
        + "="
        + value
        + "; Path=/; HttpOnly; SameSite=Strict; Max-Age="
        + seconds
        + (secure ? "; Secure" : "");
  }

  /** The header {@code Set-Cookie} that makes a browser forget its session. */
  public String forgotten() {
    return cookie("", 0);
  }

  /** Ends a session. */
  public synchronized void end(Digest id) {
    byDigest.remove(id);
  }

  /**
   * Ends all sessions of a subject, whatever opened them, and forgets the codes by which it could
   * open another without a credential.
   *
   * @return how many were open
   */
  public int endAll(String tenant, String subject, Instant now) {
    codes.forget(tenant, subject); // first: one that is shown now opens a session that is ended
    synchronized (this) {
      byDigest.values().removeIf(kept -> kept.isOver(now));
      int before = byDigest.size();
      byDigest.values().removeIf(kept -> kept.by.isOf(tenant, subject));
      return before - byDigest.size();
    }
  }

  /**
   * The credential that opened a session; empty for one that has ended. Asking is no use of it.
   *
   * @param id in hexadecimal
   */
  synchronized Optional<Caller> openedBy(String id, Instant now) {
    return Optional.ofNullable(byDigest.get(Digest.parse("sha256:" + id)))
        .filter(kept -> kept.isOpen(now))
        .map(kept -> kept.by);
  }

  /** How many are open. */
  public synchronized int size() {
    return byDigest.size();
  }

  /**
   * The session of a call; empty where it shows none.
   *
   * @throws WritException {@code GWY-090}
   */
  public synchronized Optional<Seen> of(Headers headers, Instant now) {
    Optional<String> secret = shown(headers);
    if (secret.isEmpty()) {
      return Optional.empty();
    }
    Digest id = digest(secret.get());
    Kept kept = byDigest.get(id);
    if (kept == null || kept.isOver(now)) {
      byDigest.remove(id);
      throw new WritException(GatewayError.SESSION_ENDED, "");
    }
    kept.seen = now;
    return Optional.of(new Seen(id, kept.by, kept.csrf, kept.end));
  }

  /** The cookie's value (RFC 6265, 5.4); other cookies of the host are nothing to us. */
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

  static boolean same(String a, String b) {
    return MessageDigest.isEqual(
        a.getBytes(StandardCharsets.UTF_8), b.getBytes(StandardCharsets.UTF_8));
  }
}
