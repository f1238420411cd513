package dev.writ.embed;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.EmbedError;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/** What a program puts: where it cannot be read, that is no failure of the store. */
final class ReadContent extends FilterInputStream {
  private final String file;

  ReadContent(String file, InputStream content) {
    super(content);
    this.file = file;
  }

  @Override
  public int read() throws IOException {
    try {
      return super.read();
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    try {
      return super.read(buffer, offset, length);
    } catch (IOException e) {
      throw unreadable(e);
    }
  }

  private WritException unreadable(IOException cause) {
    return new WritException(EmbedError.FILE_UNREADABLE, file + ": " + cause, cause);
  }
}
