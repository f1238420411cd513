package dev.writ.surfaces.logline;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.http.HttpCall;
import dev.writ.gateway.http.message.Headers;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * HMAC-SHA-256 (RFC 2104) over timestamp, a dot and what is signed: the raw body of an execution;
 * method and path of a call without a body. A signature is accepted only once.
 */
final class LoglineAuthentication {
  static final String TOOL = "X-LogLine-Tool-Id";
  static final String TIMESTAMP = "X-LogLine-Timestamp";
  static final String SIGNATURE = "X-LogLine-Signature";

  /** How far a timestamp may be from now. */
  static final Duration SKEW = Duration.ofSeconds(300);

  private static final String SCHEME = "sha256=";

  /** From this value on a number is in milliseconds: in seconds it would be the year 5138. */
  private static final long MILLISECONDS_FROM = 100_000_000_000L;

  private final List<LoglineConfig.Secret> secrets;
  private final UsedSignatures used;

  LoglineAuthentication(List<LoglineConfig.Secret> secrets, UsedSignatures used) {
    this.secrets = secrets;
    this.used = used;
  }

  /**
   * @param used identifies the call, which is accepted only once
   */
  record Authenticated(LoglineConfig.Secret secret, UsedSignatures.Used used) {
    /** In lower-case hexadecimal digits. */
    String signature() {
      return used.signature();
    }

    /** Names the credential for the limits of the server. */
    String credential() {
      return LoglineSurface.METHOD + " " + secret.name();
    }
  }

  /**
   * @param signed what the signature is of, behind the timestamp and a dot
   * @param isStored whether {@link UsedSignatures#store} follows
   * @throws WritException {@code GWY-103} to {@code GWY-106}
   */
  Authenticated authenticate(Headers headers, byte[] signed, Instant now, boolean isStored) {
    requireSigned(headers, now);
    String timestamp = header(headers, TIMESTAMP);
    byte[] given = given(header(headers, SIGNATURE));
    LoglineConfig.Secret secret =
        secret(given, timestamp, signed)
            .orElseThrow(() -> new WritException(LoglineError.SIGNATURE, ""));
    String hex = HexFormat.of().formatHex(given);
    return new Authenticated(secret, used.take(hex, time(timestamp), now, isStored));
  }

  /** What the signature of a call without a body is of. */
  static byte[] bodyless(HttpCall call) {
    return (call.method() + " " + call.path()).getBytes(StandardCharsets.UTF_8);
  }

  /**
   * The checks of an execution that do not need the body.
   *
   * @throws WritException {@code GWY-103} to {@code GWY-105}
   */
  static void requireHead(Headers headers, Instant now) {
    header(headers, TOOL);
    requireSigned(headers, now);
  }

  /**
   * The same for a call that names no tool.
   *
   * @throws WritException {@code GWY-103} to {@code GWY-105}
   */
  static void requireSigned(Headers headers, Instant now) {
    Instant at = time(header(headers, TIMESTAMP));
    if (Duration.between(at, now).abs().compareTo(SKEW) > 0) {
      throw new WritException(
          LoglineError.TIMESTAMP, "it is more than " + SKEW.toSeconds() + " s from the clock here");
    }
    given(header(headers, SIGNATURE));
  }

  static String header(Headers headers, String name) {
    List<String> values = headers.all(name);
    if (values.size() != 1 || values.getFirst().isEmpty()) {
      throw new WritException(LoglineError.HEADERS, name + " stands " + values.size() + " times");
    }
    return values.getFirst();
  }

  private static Instant time(String timestamp) {
    if (!timestamp.matches("[0-9]{1,15}")) {
      throw new WritException(LoglineError.TIMESTAMP, "not a number of seconds or milliseconds");
    }
    long number = Long.parseLong(timestamp);
    return number >= MILLISECONDS_FROM
        ? Instant.ofEpochMilli(number)
        : Instant.ofEpochSecond(number);
  }

  private static byte[] given(String signature) {
    String hex = signature.startsWith(SCHEME) ? signature.substring(SCHEME.length()) : "";
    if (!hex.matches("[0-9a-fA-F]{64}")) {
      throw new WritException(LoglineError.SIGNATURE, "not sha256= and 64 hexadecimal digits");
    }
    return HexFormat.of().parseHex(hex.toLowerCase(Locale.ROOT));
  }

  /** Every secret is tried, so that the time taken does not reveal which one matched. */
  private Optional<LoglineConfig.Secret> secret(byte[] given, String timestamp, byte[] signed) {
    Optional<LoglineConfig.Secret> found = Optional.empty();
    for (LoglineConfig.Secret secret : secrets) {
      boolean holds = MessageDigest.isEqual(hmac(secret.key(), timestamp, signed), given);
      found = holds && found.isEmpty() ? Optional.of(secret) : found;
    }
    return found;
  }

  static byte[] hmac(byte[] key, String timestamp, byte[] signed) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      mac.update(timestamp.getBytes(StandardCharsets.UTF_8));
      mac.update((byte) '.');
      return mac.doFinal(signed);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }
}
