package dev.writ.cli.command.run;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;

/** A file that is read for the second time: it throws at its end if it changed since the first. */
final class UnchangedContent extends DigestInputStream {
  private final Path file;
  private final Digest wanted;
  private boolean compared;

  UnchangedContent(Path file, Digest wanted) throws IOException {
    super(Files.newInputStream(file), Digest.newSha256());
    this.file = file;
    this.wanted = wanted;
  }

  @Override
  public int read(byte[] into, int offset, int length) throws IOException {
    int count = super.read(into, offset, length);
    if (count < 0 && !compared) {
      compared = true;
      if (!Digest.ofBytes(digest.digest()).equals(wanted)) {
        throw new WritException(
            EmbedError.FILE_UNREADABLE, file + ": it changed while it was read");
      }
    }
    return count;
  }

  /** All of it goes through the other. */
  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }
}
