package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Bytes that are read by position: a file, or memory. Thread safe. */
interface PositionedSource extends AutoCloseable {
  long size();

  /**
   * Reads exactly so many bytes.
   *
   * @throws WritException {@code RPL-011} where they end before, {@code RPL-016} where the storage
   *     fails
   */
  void read(long at, byte[] into, int from, int length);

  @Override
  default void close() {}

  static PositionedSource of(byte[] bytes) {
    return new PositionedSource() {
      @Override
      public long size() {
        return bytes.length;
      }

      @Override
      public void read(long at, byte[] into, int from, int length) {
        if (at < 0 || length > bytes.length - at) {
          throw ends(at, length, bytes.length);
        }
        System.arraycopy(bytes, (int) at, into, from, length);
      }
    };
  }

  /**
   * @throws WritException {@code RPL-016}
   */
  static PositionedSource open(Path file) {
    try {
      FileChannel channel = FileChannel.open(file, StandardOpenOption.READ);
      return new OfFile(channel, channel.size());
    } catch (IOException e) {
      throw failed(e);
    }
  }

  static WritException failed(IOException e) {
    String message = e.getMessage();
    return new WritException(
        BundleError.STORAGE, message == null ? e.getClass().getSimpleName() : message, e);
  }

  private static WritException ends(long at, int length, long size) {
    return new WritException(
        BundleError.ARCHIVE_TRUNCATED,
        length + " bytes are to be at " + at + ", the file has " + size);
  }

  /**
   * Reads by position, without a shared offset and without mapping, since a file may be truncated
   * meanwhile.
   */
  record OfFile(FileChannel channel, long size) implements PositionedSource {
    @Override
    public void read(long at, byte[] into, int from, int length) {
      ByteBuffer buffer = ByteBuffer.wrap(into, from, length);
      try {
        while (buffer.hasRemaining()) {
          if (channel.read(buffer, at + buffer.position() - from) < 0) {
            throw ends(at, length, channel.size());
          }
        }
      } catch (IOException e) {
        throw failed(e);
      }
    }

    @Override
    public void close() {
      try {
        channel.close();
      } catch (IOException e) {
        throw failed(e);
      }
    }
  }
}
