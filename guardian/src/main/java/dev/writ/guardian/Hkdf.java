package dev.writ.guardian;

import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** HKDF-SHA-256 (RFC 5869) for one block of output. */
final class Hkdf {
  private Hkdf() {}

  /** 32 bytes from key material, with no salt. */
  static byte[] derive32(byte[] ikm, byte[] info) {
    byte[] prk = hmac(new byte[32], ikm);
    byte[] block = Arrays.copyOf(info, info.length + 1);
    block[info.length] = 1;
    return hmac(prk, block);
  }

  private static byte[] hmac(byte[] key, byte[] message) {
    try {
      Mac mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(message);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JDK has HmacSHA256", e);
    }
  }
}
