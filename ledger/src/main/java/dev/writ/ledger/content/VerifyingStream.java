package dev.writ.ledger.content;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.security.MessageDigest;

/** Hashes what is read and refuses to end on content that is not what its digest says. */
public final class VerifyingStream extends FilterInputStream {
  private final Digest digest;
  private final long size;
  private final MessageDigest hash = Digest.newSha256();
  private long read;
  private boolean verified;

  VerifyingStream(InputStream in, Digest digest, long size) {
    super(in);
    this.digest = digest;
    this.size = size;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    int count = in.read(buffer, offset, length);
    if (count < 0) {
      requireWhole();
      return -1;
    }
    read += count;
    if (read > size) {
      throw new WritException(
          LedgerError.BLOB_CORRUPT, digest + " has more than its " + size + " bytes");
    }
    hash.update(buffer, offset, count);
    return count;
  }

  private void requireWhole() {
    if (verified) {
      return;
    }
    if (read != size) {
      throw new WritException(
          LedgerError.BLOB_CORRUPT, digest + " has " + read + " bytes instead of " + size);
    }
    Digest calculated = Digest.ofBytes(hash.digest());
    if (!calculated.equals(digest)) {
      throw new WritException(
          LedgerError.BLOB_CORRUPT, digest + " has the calculated digest " + calculated);
    }
    verified = true;
  }

  /** Skipped bytes are read, for they must be hashed too. */
  @Override
  public long skip(long count) throws IOException {
    byte[] buffer = new byte[(int) Math.clamp(count, 0L, 8192L)];
    long skipped = 0;
    while (skipped < count) {
      int n = read(buffer, 0, (int) Math.min(buffer.length, count - skipped));
      if (n < 0) {
        break;
      }
      skipped += n;
    }
    return skipped;
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
