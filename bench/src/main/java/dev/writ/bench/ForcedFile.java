package dev.writ.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** The floor of every durable commit: the same bytes into a file, and fdatasync. */
final class ForcedFile implements AutoCloseable {
  private static final int PREALLOCATED_BYTES = 64 << 20;

  private final FileChannel channel;
  private final byte[] record;
  private final boolean growing;
  private long position;

  private ForcedFile(FileChannel channel, byte[] record, boolean growing) {
    this.channel = channel;
    this.record = record;
    this.growing = growing;
  }

  /** A file that grows with each record, so that its size is written too. */
  static ForcedFile growing(Path file, int recordBytes) {
    return open(file, recordBytes, true);
  }

  /** A file that was written before and is written over. */
  static ForcedFile preallocated(Path file, int recordBytes) {
    return open(file, recordBytes, false);
  }

  private static ForcedFile open(Path file, int recordBytes, boolean growing) {
    try {
      FileChannel channel =
          FileChannel.open(file, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);
      byte[] record = new byte[recordBytes];
      for (int i = 0; i < recordBytes; i++) {
        record[i] = (byte) (i * 31);
      }
      if (!growing) {
        ByteBuffer zeros = ByteBuffer.allocate(1 << 20);
        while (channel.position() < PREALLOCATED_BYTES) {
          channel.write(zeros.clear());
        }
        channel.force(true);
      }
      return new ForcedFile(channel, record, growing);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Writes one record durably. */
  Object append() {
    try {
      if (!growing && position + record.length > PREALLOCATED_BYTES) {
        position = 0;
      }
      ByteBuffer bytes = ByteBuffer.wrap(record);
      while (bytes.hasRemaining()) {
        position += channel.write(bytes, position);
      }
      channel.force(false);
      return channel;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
