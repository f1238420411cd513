package dev.writ.verify.bundle;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.SortedMap;
import java.util.TreeMap;

/** Writes archives of gigabytes into files that take kilobytes: zeros are left out as holes. */
final class Sparse {
  private static final byte[] ZEROS = new byte[1 << 20];

  private Sparse() {}

  /**
   * @param zeros how many bytes, all zero, each further entry has
   */
  static void write(Path file, SortedMap<String, byte[]> entries, SortedMap<String, Long> zeros) {
    TreeMap<String, ArchiveWriter.Content> contents = new TreeMap<>();
    entries.forEach((name, content) -> contents.put(name, to -> to.write(content)));
    zeros.forEach((name, count) -> contents.put(name, to -> write(count, to)));
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE_NEW,
            StandardOpenOption.READ,
            StandardOpenOption.WRITE,
            StandardOpenOption.SPARSE)) {
      ArchiveWriter out = new ArchiveWriter(new WithHoles(PositionedTarget.of(channel, _ -> {})));
      contents.forEach(out::entry);
      out.end();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static void write(long zeros, OutputStream to) throws IOException {
    for (long left = zeros; left > 0; left -= ZEROS.length) {
      to.write(ZEROS, 0, (int) Math.min(left, ZEROS.length));
    }
  }

  private record WithHoles(PositionedTarget file) implements PositionedTarget {
    @Override
    public long size() {
      return file.size();
    }

    @Override
    public void read(long at, byte[] into, int from, int length) {
      file.read(at, into, from, length);
    }

    @Override
    public void write(long at, byte[] bytes, int from, int length) {
      if (length > ZEROS.length || !Arrays.equals(bytes, from, from + length, ZEROS, 0, length)) {
        file.write(at, bytes, from, length);
      }
    }
  }
}
