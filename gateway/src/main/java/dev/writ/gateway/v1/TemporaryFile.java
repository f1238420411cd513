package dev.writ.gateway.v1;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryFiles;
import dev.writ.gateway.error.GatewayError;
import dev.writ.gateway.http.message.HttpAnswer;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A file in the server's temporary storage, and the room that it takes; gone once it is closed. One
 * without a name is also gone where the process is killed.
 */
public final class TemporaryFile implements AutoCloseable {
  private static final int PIECE_BYTES = 1 << 16;

  private final TemporaryStorage.Lease room;
  private final Path path;
  private final FileChannel channel;

  /**
   * @param named whether it is to be read by its name, too
   */
  TemporaryFile(TemporaryStorage.Lease room, boolean named) {
    this.room = room;
    try {
      path = TemporaryFiles.create("bundle-", ".zip");
      channel = FileChannel.open(path, StandardOpenOption.READ, StandardOpenOption.WRITE);
      if (!named) {
        Files.delete(path); // open files live on without their names
      }
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** Where one with a name lies. */
  public Path path() {
    return path;
  }

  FileChannel channel() {
    return channel;
  }

  /**
   * @throws WritException {@code GWY-051}, {@code GWY-050}
   */
  void grow(long bytes) {
    room.grow(bytes);
  }

  /** Writes to it, within the tenant's room. */
  public OutputStream out() {
    OutputStream to = Channels.newOutputStream(channel);
    return new OutputStream() {
      @Override
      public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
      }

      @Override
      public void write(byte[] bytes, int from, int length) throws IOException {
        grow(length);
        to.write(bytes, from, length);
      }
    };
  }

  /** In bytes. */
  public long size() {
    try {
      return channel.size();
    } catch (IOException e) {
      throw failed(e);
    }
  }

  /** The whole of it. */
  byte[] bytes() {
    ByteBuffer whole = ByteBuffer.allocate(Math.toIntExact(size()));
    try {
      while (whole.hasRemaining() && channel.read(whole, whole.position()) >= 0) {
        // until all of it is read
      }
    } catch (IOException e) {
      throw failed(e);
    }
    return whole.array();
  }

  /** Sends the whole of it, piece by piece. */
  public void send(HttpAnswer.Sink sink) throws IOException {
    long size = channel.size();
    for (long at = 0; at < size; ) {
      ByteBuffer piece = ByteBuffer.allocate((int) Math.min(PIECE_BYTES, size - at));
      if (channel.read(piece, at) < 0) {
        throw new IOException("the file is shorter than it was");
      }
      byte[] bytes = new byte[piece.position()];
      piece.flip().get(bytes);
      at += bytes.length;
      sink.write(bytes);
    }
  }

  private static WritException failed(IOException e) {
    return new WritException(GatewayError.STORAGE, e.getClass().getSimpleName(), e);
  }

  @Override
  public void close() {
    try {
      channel.close();
      Files.deleteIfExists(path);
    } catch (IOException e) {
      throw failed(e);
    } finally {
      room.close();
    }
  }
}
