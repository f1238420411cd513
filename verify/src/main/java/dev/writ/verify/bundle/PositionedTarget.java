package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.util.Arrays;
import java.util.function.LongConsumer;

/** Bytes that are appended, overwritten, and read again. Not thread safe. */
interface PositionedTarget extends PositionedSource {
  /**
   * Overwrites bytes, or appends.
   *
   * @throws WritException {@code RPL-016} where the storage fails
   */
  void write(long at, byte[] bytes, int from, int length);

  static PositionedTarget of(FileChannel channel, LongConsumer growth) {
    return new ToFile(channel, growth);
  }

  /**
   * A file that is open for reading and writing.
   *
   * @param growth is told by how many bytes it is about to grow, and may refuse
   */
  record ToFile(FileChannel channel, LongConsumer growth) implements PositionedTarget {
    @Override
    public long size() {
      try {
        return channel.size();
      } catch (IOException e) {
        throw PositionedSource.failed(e);
      }
    }

    @Override
    public void read(long at, byte[] into, int from, int length) {
      new PositionedSource.OfFile(channel, size()).read(at, into, from, length);
    }

    @Override
    public void write(long at, byte[] bytes, int from, int length) {
      growth.accept(Math.max(0, at + length - size()));
      ByteBuffer buffer = ByteBuffer.wrap(bytes, from, length);
      try {
        while (buffer.hasRemaining()) {
          channel.write(buffer, at + buffer.position() - from);
        }
      } catch (IOException e) {
        throw PositionedSource.failed(e);
      }
    }
  }

  /** Memory that grows. */
  final class Memory implements PositionedTarget {
    private byte[] bytes = new byte[1 << 16];
    private int size;

    @Override
    public long size() {
      return size;
    }

    @Override
    public void read(long at, byte[] into, int from, int length) {
      System.arraycopy(bytes, Math.toIntExact(at), into, from, length);
    }

    @Override
    public void write(long at, byte[] from, int start, int length) {
      int end = Math.toIntExact(at + length);
      if (end > bytes.length) {
        bytes = Arrays.copyOf(bytes, Math.max(end, (int) Math.min(2L * bytes.length, 1 << 30)));
      }
      System.arraycopy(from, start, bytes, (int) at, length);
      size = Math.max(size, end);
    }

    byte[] toBytes() {
      return Arrays.copyOf(bytes, size);
    }
  }
}
