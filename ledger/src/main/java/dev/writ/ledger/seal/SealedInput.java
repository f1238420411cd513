package dev.writ.ledger.seal;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.io.InputStream;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import javax.crypto.Cipher;

/** Opens what {@link SealedOutput} sealed; a piece is given out only when its tag was verified. */
final class SealedInput extends InputStream {
  private static final int SEALED_BYTES = SealedForm.PIECE_BYTES + SealedForm.TAG_BYTES;

  private final SealedForm form;
  private final InputStream from;
  private final String what;
  private byte[] piece = {};
  private int given;

  /** The sealed piece after the present one; absent before the first. */
  private byte[] ahead;

  private boolean ended;

  /**
   * @param what names the content in a refusal
   */
  SealedInput(byte[] key, byte[] context, InputStream from, String what) {
    this.form = new SealedForm(Cipher.DECRYPT_MODE, key, context);
    this.from = from;
    this.what = what;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (given == piece.length) {
      if (ended) {
        return -1;
      }
      next();
    }
    int count = Math.min(length, piece.length - given);
    System.arraycopy(piece, given, buffer, offset, count);
    given += count;
    return count;
  }

  private void next() throws IOException {
    if (ahead == null) {
      if (!Arrays.equals(from.readNBytes(SealedForm.HEADER.length), SealedForm.HEADER)) {
        throw damaged("it does not begin as a sealed content");
      }
      ahead = from.readNBytes(SEALED_BYTES);
    }
    byte[] sealed = ahead;
    ahead = from.readNBytes(SEALED_BYTES);
    ended = ahead.length == 0;
    try {
      piece = form.next(sealed, sealed.length, ended);
    } catch (GeneralSecurityException e) {
      throw damaged("its tag is not that of these bytes under this key");
    }
    given = 0;
  }

  private WritException damaged(String found) {
    return new WritException(LedgerError.SEAL_WRONG, what + ": " + found);
  }

  @Override
  public void close() throws IOException {
    from.close();
  }
}
