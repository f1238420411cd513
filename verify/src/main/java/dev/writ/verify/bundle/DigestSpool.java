package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.DigestSet;
import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.PriorityQueue;
import java.util.function.Consumer;

/**
 * Collects digests and gives them back in their order, each once. Many of them lie in a temporary
 * file, as sorted lists that are merged, so that memory does not grow with their number. There is
 * no file until then. Not thread safe.
 */
final class DigestSpool implements AutoCloseable {
  private static final int IN_MEMORY = 1 << 16;

  /** Of a list, what is read at once. */
  private static final int PIECE = 128 * Digest.LENGTH;

  private final int most;
  private DigestSet recent = new DigestSet();
  private Optional<FileChannel> file = Optional.empty();

  /** Where each list ends in the file; it begins where the one before ends. */
  private final List<Long> ends = new ArrayList<>();

  DigestSpool() {
    this(IN_MEMORY);
  }

  /**
   * @param most how many are kept in memory
   */
  DigestSpool(int most) {
    this.most = most;
  }

  /**
   * @throws WritException {@code RPL-016} where the temporary file cannot be written
   */
  void add(Digest digest) {
    recent.add(digest);
    if (recent.size() == most) {
      spill();
    }
  }

  /** How many different ones were added. */
  long size() {
    if (ends.isEmpty()) {
      return recent.size();
    }
    long[] count = {0};
    forEach(_ -> count[0]++);
    return count[0];
  }

  /**
   * Hands on all of them in their order; none may be added after that.
   *
   * @throws WritException {@code RPL-016} where the temporary file cannot be read
   */
  void forEach(Consumer<Digest> consumer) {
    if (ends.isEmpty()) {
      recent.drainSorted(consumer);
      return;
    }
    if (recent.size() > 0) {
      spill();
    }
    PriorityQueue<Cursor> cursors =
        new PriorityQueue<>(Comparator.comparing((Cursor cursor) -> cursor.head));
    for (int i = 0; i < ends.size(); i++) {
      cursors.add(new Cursor(i == 0 ? 0 : ends.get(i - 1), ends.get(i)));
    }
    Digest before = null;
    while (!cursors.isEmpty()) {
      Cursor first = cursors.remove();
      if (!first.head.equals(before)) {
        consumer.accept(first.head);
      }
      before = first.head;
      if (first.move()) {
        cursors.add(first);
      }
    }
  }

  /** Reads a list forward; none is empty. */
  private final class Cursor {
    private final long to;
    private long at;
    private ByteBuffer piece = ByteBuffer.allocate(0);
    private Digest head;

    Cursor(long from, long to) {
      this.at = from;
      this.to = to;
      move();
    }

    boolean move() {
      if (!piece.hasRemaining()) {
        if (at == to) {
          return false;
        }
        piece = read(at, (int) Math.min(PIECE, to - at));
        at += piece.capacity();
      }
      byte[] digest = new byte[Digest.LENGTH];
      piece.get(digest);
      head = Digest.ofBytes(digest);
      return true;
    }
  }

  private ByteBuffer read(long from, int length) {
    ByteBuffer bytes = ByteBuffer.allocate(length);
    try {
      while (bytes.hasRemaining()) {
        if (file.orElseThrow().read(bytes, from + bytes.position()) < 0) {
          throw new IOException("the temporary file was cut off");
        }
      }
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
    return bytes.flip();
  }

  private void spill() {
    ByteBuffer bytes = ByteBuffer.allocate(recent.size() * Digest.LENGTH);
    recent.drainSorted(digest -> bytes.put(digest.bytes()));
    recent = new DigestSet();
    long at = ends.isEmpty() ? 0 : ends.getLast();
    try {
      if (file.isEmpty()) {
        file = Optional.of(open());
      }
      bytes.flip();
      while (bytes.hasRemaining()) {
        at += file.get().write(bytes, at);
      }
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
    ends.add(at);
  }

  /** The name is gone at once, so that nothing is left whatever becomes of the process. */
  private static FileChannel open() throws IOException {
    Path path = Files.createTempFile("writ-digests", "");
    FileChannel channel =
        FileChannel.open(
            path,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.DELETE_ON_CLOSE);
    Files.deleteIfExists(path);
    return channel;
  }

  @Override
  public void close() {
    try {
      if (file.isPresent()) {
        file.get().close();
      }
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
  }
}
