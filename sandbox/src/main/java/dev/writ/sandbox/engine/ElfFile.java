package dev.writ.sandbox.engine;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What a 64-bit little-endian ELF file needs from the dynamic loader (System V ABI, chapter 5).
 *
 * @param loader the program interpreter; empty for a library or a static program
 * @param libraries names of the libraries it needs
 * @param searchPath directories that are searched for them first
 */
record ElfFile(Optional<String> loader, List<String> libraries, List<String> searchPath) {
  private static final int LOAD = 1;
  private static final int DYNAMIC = 2;
  private static final int INTERPRETER = 3;
  private static final int NEEDED = 1;
  private static final int STRING_TABLE = 5;
  private static final int RPATH = 15;
  private static final int RUNPATH = 29;
  private static final int MOST_BYTES = 1 << 20;
  private static final int MOST_SEGMENTS = 256;
  private static final int MOST_NAMES = 4_096;

  private record Segment(int type, long offset, long address, long size) {}

  /** Empty if it is no such file. */
  static Optional<ElfFile> read(Path path) throws IOException {
    try (FileChannel file = FileChannel.open(path, StandardOpenOption.READ)) {
      ByteBuffer head = bytes(file, 0, 64);
      boolean isElf =
          head.limit() == 64
              && head.getInt(0) == 0x464c457f
              && head.get(4) == 2
              && head.get(5) == 1;
      if (!isElf) {
        return Optional.empty();
      }
      List<Segment> segments = segments(file, head);
      Optional<String> loader =
          segments.stream()
              .filter(s -> s.type() == INTERPRETER)
              .findFirst()
              .map(s -> quietly(file, s.offset()));
      return Optional.of(dynamic(file, segments, loader));
    } catch (IndexOutOfBoundsException | IllegalArgumentException e) {
      return Optional.empty(); // truncated: the loader refuses it, too
    }
  }

  private static List<Segment> segments(FileChannel file, ByteBuffer head) throws IOException {
    long at = head.getLong(32);
    int size = head.getShort(54) & 0xffff;
    int count = head.getShort(56) & 0xffff;
    if (count > MOST_SEGMENTS) {
      throw new IllegalArgumentException(count + " segments");
    }
    List<Segment> segments = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ByteBuffer entry = bytes(file, at + (long) i * size, 56);
      segments.add(
          new Segment(entry.getInt(0), entry.getLong(8), entry.getLong(16), entry.getLong(32)));
    }
    return segments;
  }

  private static ElfFile dynamic(FileChannel file, List<Segment> segments, Optional<String> loader)
      throws IOException {
    List<Long> needed = new ArrayList<>();
    List<Long> paths = new ArrayList<>();
    long strings = -1;
    for (Segment segment : segments) {
      if (segment.type() == DYNAMIC) {
        ByteBuffer entries = bytes(file, segment.offset(), segment.size());
        for (int at = 0; at + 16 <= entries.limit(); at += 16) {
          long tag = entries.getLong(at);
          long value = entries.getLong(at + 8);
          if (tag == NEEDED) {
            needed.add(value);
          } else if (tag == RPATH || tag == RUNPATH) {
            paths.add(value);
          } else if (tag == STRING_TABLE) {
            strings = offset(segments, value);
          }
        }
      }
    }
    if (needed.size() + paths.size() > MOST_NAMES) {
      throw new IllegalArgumentException("more than " + MOST_NAMES + " names");
    }
    List<String> libraries = new ArrayList<>();
    for (long at : needed) {
      libraries.add(string(file, strings + at));
    }
    List<String> searchPath = new ArrayList<>();
    for (long at : paths) {
      searchPath.addAll(List.of(string(file, strings + at).split(":")));
    }
    return new ElfFile(loader, libraries, searchPath);
  }

  private static long offset(List<Segment> segments, long address) {
    for (Segment s : segments) {
      if (s.type() == LOAD && address >= s.address() && address < s.address() + s.size()) {
        return s.offset() + address - s.address();
      }
    }
    return address;
  }

  private static String quietly(FileChannel file, long at) {
    try {
      return string(file, at);
    } catch (IOException e) {
      throw new IllegalArgumentException(e);
    }
  }

  private static String string(FileChannel file, long at) throws IOException {
    ByteBuffer text = bytes(file, at, 4096);
    int end = 0;
    while (end < text.limit() && text.get(end) != 0) {
      end++;
    }
    return new String(text.array(), 0, end, StandardCharsets.UTF_8);
  }

  private static ByteBuffer bytes(FileChannel file, long at, long size) throws IOException {
    if (size > MOST_BYTES || at < 0) {
      throw new IllegalArgumentException("a table of " + size + " bytes");
    }
    ByteBuffer buffer = ByteBuffer.allocate((int) size).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining()) {
      int read = file.read(buffer, at + buffer.position());
      if (read < 0) {
        break;
      }
    }
    return buffer.flip();
  }
}
