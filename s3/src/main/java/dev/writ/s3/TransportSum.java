package dev.writ.s3;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Base64;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * The header {@code Content-MD5} of what is sent. A bucket with object lock takes nothing without
 * it. Nobody relies on it: what was written is read back and hashed.
 */
final class TransportSum {
  private TransportSum() {}

  static String of(RequestBody body) {
    MessageDigest sum = md5();
    try (InputStream in = new DigestInputStream(body.contentStreamProvider().newStream(), sum)) {
      in.transferTo(OutputStream.nullOutputStream());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return Base64.getEncoder().encodeToString(sum.digest());
  }

  private static MessageDigest md5() {
    try {
      return MessageDigest.getInstance("MD5");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("a Java without MD5", e);
    }
  }
}
