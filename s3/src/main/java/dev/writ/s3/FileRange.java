package dev.writ.s3;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** A part of a file, read from its beginning each time that it is opened. */
final class FileRange extends FilterInputStream {
  private long left;

  private FileRange(InputStream in, long length) {
    super(in);
    this.left = length;
  }

  static InputStream open(Path file, long from, long length) {
    try {
      FileChannel channel = FileChannel.open(file, StandardOpenOption.READ).position(from);
      return new FileRange(Channels.newInputStream(channel), length);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] buffer, int offset, int length) throws IOException {
    if (left == 0) {
      return -1;
    }
    int count = in.read(buffer, offset, (int) Math.min(length, left));
    left -= Math.max(count, 0);
    return count;
  }

  @Override
  public long skip(long count) throws IOException {
    long skipped = in.skip(Math.min(count, left));
    left -= skipped;
    return skipped;
  }

  @Override
  public int available() {
    return 0;
  }

  @Override
  public boolean markSupported() {
    return false;
  }
}
