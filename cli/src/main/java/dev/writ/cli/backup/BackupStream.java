package dev.writ.cli.backup;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.BackupError;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;

/**
 * A stored file that is decrypted while it is read. What the decryption refuses is a damaged file;
 * and so is one that is not the stated one, which is known at its end.
 */
final class BackupStream extends FilterInputStream {
  private static final int BUFFER = 1 << 16;

  private final BackupFolder folder;
  private final Path file;
  private final StoredBytes stated;
  private final CountingStream stored;

  private BackupStream(
      BackupFolder folder,
      Path file,
      StoredBytes stated,
      CountingStream stored,
      InputStream decrypted) {
    super(decrypted);
    this.folder = folder;
    this.file = file;
    this.stated = stated;
    this.stored = stored;
  }

  static BackupStream open(
      BackupFolder folder, Path file, StoredBytes stated, AgeIdentities identities)
      throws IOException {
    CountingStream stored = new CountingStream(Files.newInputStream(file));
    try {
      return new BackupStream(
          folder,
          file,
          stated,
          stored,
          folder.isEncrypted()
              ? Channels.newInputStream(identities.decrypting(Channels.newChannel(stored)))
              : stored);
    } catch (IOException e) {
      stored.close();
      throw damaged(folder, file, e);
    } catch (WritException e) {
      stored.close();
      if (e.code() == BackupError.IDENTITY) {
        // A changed file and a wrong identity look the same here; its digest tells them apart.
        folder.requireStored(file, stated);
      }
      throw e;
    }
  }

  /** Digest and size of a file as it lies there. */
  static StoredBytes read(Path file) throws IOException {
    try (CountingStream all = new CountingStream(Files.newInputStream(file))) {
      return all.rest();
    }
  }

  private static WritException damaged(BackupFolder folder, Path file, IOException e) {
    String found = folder.isEncrypted() ? " cannot be decrypted" : ": " + e.getMessage();
    return new WritException(BackupError.DAMAGED, folder.name(file) + found, e);
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    int count;
    try {
      count = super.read(bytes, offset, length);
    } catch (IOException e) {
      throw damaged(folder, file, e);
    }
    if (count < 0) {
      folder.require(file, stored.rest(), stated);
    }
    return count;
  }

  /** Bytes that are counted and digested as they are read. */
  private static final class CountingStream extends FilterInputStream {
    private final MessageDigest digest;
    private long count;

    CountingStream(InputStream in) {
      MessageDigest sha = Digest.newSha256();
      super(new DigestInputStream(in, sha));
      digest = sha;
    }

    @Override
    public int read() throws IOException {
      int read = super.read();
      count += read < 0 ? 0 : 1;
      return read;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
      int read = super.read(bytes, offset, length);
      count += Math.max(read, 0);
      return read;
    }

    /** Reads to the end. */
    StoredBytes rest() throws IOException {
      byte[] buffer = new byte[BUFFER];
      int read;
      do {
        read = read(buffer, 0, buffer.length);
      } while (read >= 0);
      return new StoredBytes(Digest.ofBytes(((MessageDigest) cloned()).digest()), count);
    }

    private Object cloned() {
      try {
        return digest.clone();
      } catch (CloneNotSupportedException e) {
        throw new IllegalStateException("SHA-256 cannot be copied", e);
      }
    }
  }
}
