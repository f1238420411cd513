package dev.writ.gateway.apart;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Timestamps;
import dev.writ.gateway.error.GatewayError;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.Base64;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The secret that a guardian and its executor share. It only keeps others from reading outputs and
 * from asking at all: what is done follows from signatures.
 */
public final class ApartSecret {
  /** The header with the time of a call and its authentication code. */
  public static final String HEADER = "Writ-Guardian";

  /** How far the clocks of the two may be apart. */
  private static final Duration AGE_MAX = Duration.ofMinutes(1);

  private static final int BYTES = 32;
  private static final String CONTEXT = "writ/apart/v1";

  private final SecretKeySpec key;

  /**
   * @param secret 32 random bytes
   */
  public ApartSecret(byte[] secret) {
    if (secret.length != BYTES) {
      throw new IllegalArgumentException("not 32 bytes");
    }
    this.key = new SecretKeySpec(secret, "HmacSHA256");
  }

  /** The header's value for a call. */
  String sign(String call, byte[] body, Instant now) {
    String at = Timestamps.format(Timestamps.truncate(now));
    return at + " " + Base64.getEncoder().encodeToString(mac(call, at, body));
  }

  /**
   * @throws WritException {@code GWY-198} where no guardian with this secret says so now
   */
  void verify(String header, String call, byte[] body, Instant now) {
    String[] parts = header.split(" ", -1);
    boolean fits;
    try {
      fits =
          parts.length == 2
              && MessageDigest.isEqual(
                  Base64.getDecoder().decode(parts[1]), mac(call, parts[0], body))
              && Duration.between(Timestamps.parse(parts[0]), now).abs().compareTo(AGE_MAX) <= 0;
    } catch (IllegalArgumentException e) {
      fits = false;
    }
    if (!fits) {
      throw new WritException(
          GatewayError.NOT_THE_GUARDIAN, "the call is not signed with the shared secret, or old");
    }
  }

  private byte[] mac(String call, String at, byte[] body) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(key);
      return mac.doFinal(
          String.join("\n", CONTEXT, call, at, Digest.sha256(body).hex())
              .getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e); // every JDK has it
    }
  }
}
