package dev.writ.tools.process;

import dev.writ.sandbox.SecretFile;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Comparator;
import java.util.List;

/** Takes the secrets of a call out of what it wrote. */
public final class Masking {
  private static final byte[] MASK = "[secret]".getBytes(StandardCharsets.US_ASCII);

  private final List<byte[]> secrets;

  /** Longest first, so that a secret which holds another goes whole. */
  Masking(List<SecretFile> files) {
    this.secrets =
        files.stream()
            .map(SecretFile::bytes)
            .filter(bytes -> bytes.length > 0)
            .sorted(Comparator.comparingInt((byte[] bytes) -> bytes.length).reversed())
            .toList();
  }

  /** The same bytes, with each secret replaced by a mark. */
  public byte[] apply(byte[] bytes) {
    if (secrets.isEmpty()) {
      return bytes;
    }
    ByteArrayOutputStream out = new ByteArrayOutputStream(bytes.length);
    for (int at = 0; at < bytes.length; ) {
      int length = secretAt(bytes, at);
      if (length > 0) {
        out.writeBytes(MASK);
        at += length;
      } else {
        out.write(bytes[at++]);
      }
    }
    return out.toByteArray();
  }

  /** The length of the secret that begins there; 0 where none does. */
  private int secretAt(byte[] bytes, int at) {
    for (byte[] secret : secrets) {
      int i = 0;
      while (i < secret.length && at + i < bytes.length && bytes[at + i] == secret[i]) {
        i++;
      }
      if (i == secret.length) {
        return i;
      }
    }
    return 0;
  }
}
