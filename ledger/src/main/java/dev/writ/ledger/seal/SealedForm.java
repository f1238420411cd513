package dev.writ.ledger.seal;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * A header and pieces of at most 64 KiB, each with its tag (spec/retention.md, Sealed contents).
 * Number and end of a piece are in its nonce, so none can be moved, repeated or left out.
 */
final class SealedForm {
  /** Names the form; another one gets another last character. */
  static final byte[] HEADER = "WSC1".getBytes(StandardCharsets.US_ASCII);

  static final int PIECE_BYTES = 64 * 1024;
  static final int TAG_BYTES = 16;

  private final Cipher cipher;
  private final SecretKeySpec key;
  private final byte[] context;
  private final int mode;
  private long piece;

  /**
   * @param key 32 bytes, for this content alone
   * @param context additional data of each piece
   */
  SealedForm(int mode, byte[] key, byte[] context) {
    try {
      this.cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("a Java without AES-GCM", e);
    }
    this.mode = mode;
    this.key = new SecretKeySpec(key, "AES");
    this.context = context;
  }

  /**
   * Seals or opens the next piece.
   *
   * @throws GeneralSecurityException where the tag is not that of these bytes
   */
  byte[] next(byte[] bytes, int length, boolean isLast) throws GeneralSecurityException {
    byte[] nonce = ByteBuffer.allocate(12).putInt(isLast ? 1 : 0).putLong(piece++).array();
    cipher.init(mode, key, new GCMParameterSpec(8 * TAG_BYTES, nonce));
    cipher.updateAAD(context);
    return cipher.doFinal(bytes, 0, length);
  }
}
