package dev.writ.ledger.seal;

import java.io.IOException;
import java.io.OutputStream;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;

/** Seals what is written to it. Closing it closes nothing; {@link #finish} must be called. */
public final class SealedOutput extends OutputStream {
  private final SealedForm form;
  private final OutputStream to;
  private final byte[] piece = new byte[SealedForm.PIECE_BYTES];
  private int filled;
  private boolean begun;

  SealedOutput(byte[] key, byte[] context, OutputStream to) {
    this.form = new SealedForm(Cipher.ENCRYPT_MODE, key, context);
    this.to = to;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) throws IOException {
    int from = offset;
    int left = length;
    while (left > 0) {
      if (filled == piece.length) {
        put(false);
      }
      int count = Math.min(left, piece.length - filled);
      System.arraycopy(bytes, from, piece, filled, count);
      filled += count;
      from += count;
      left -= count;
    }
  }

  /** Writes the last piece. */
  public void finish() throws IOException {
    put(true);
  }

  private void put(boolean isLast) throws IOException {
    if (!begun) {
      to.write(SealedForm.HEADER);
      begun = true;
    }
    try {
      to.write(form.next(piece, filled, isLast));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("AES-GCM refused to seal", e);
    }
    filled = 0;
  }
}
