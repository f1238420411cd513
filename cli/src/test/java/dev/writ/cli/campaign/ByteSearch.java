package dev.writ.cli.campaign;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.rocksdb.Options;
import org.rocksdb.ReadOptions;
import org.rocksdb.RocksDBException;
import org.rocksdb.SstFileReader;
import org.rocksdb.SstFileReaderIterator;

/** Searches files for many pieces of bytes at once. */
final class ByteSearch {
  /** How much of a piece is compared. */
  private static final int LENGTH = 24;

  private record Piece(String name, byte[] bytes) {}

  private final Map<Long, List<Piece>> byStart = new HashMap<>();
  private final boolean[] starts = new boolean[1 << 16];

  /** Where each was found, by its name. */
  private final TreeMap<String, TreeSet<String>> found = new TreeMap<>();

  /**
   * @param bytes 24 at least
   */
  void add(String name, byte[] bytes) {
    long start = ByteBuffer.wrap(bytes).getLong();
    byStart.computeIfAbsent(start, _ -> new ArrayList<>()).add(new Piece(name, bytes));
    starts[(int) (start & 0xffff)] = true;
  }

  TreeMap<String, TreeSet<String>> found() {
    return found;
  }

  /** Looks at every file below a folder, and into the compressed rows of RocksDB's tables. */
  void below(Path folder) throws IOException {
    List<Path> files;
    try (Stream<Path> all = Files.walk(folder)) {
      files = all.filter(Files::isRegularFile).toList();
    }
    for (Path file : files) {
      try {
        in(file.toString(), Files.readAllBytes(file));
      } catch (NoSuchFileException e) {
        continue; // a database removes files of its own
      }
      if (file.toString().endsWith(".sst")) {
        inTable(file);
      }
    }
  }

  private void inTable(Path file) throws IOException {
    try (Options options = new Options();
        SstFileReader reader = new SstFileReader(options);
        ReadOptions reading = new ReadOptions()) {
      reader.open(file.toString());
      try (SstFileReaderIterator rows = reader.newIterator(reading)) {
        for (rows.seekToFirst(); rows.isValid(); rows.next()) {
          in("a row of " + file, rows.value());
        }
      }
    } catch (RocksDBException e) {
      throw new IOException(file.toString(), e);
    }
  }

  void in(String place, byte[] bytes) {
    long window = 0;
    for (int i = 0; i < bytes.length; i++) {
      window = window << 8 | bytes[i] & 0xff;
      if (starts[(int) (window & 0xffff)] && i >= Long.BYTES - 1) {
        for (Piece piece : byStart.getOrDefault(window, List.of())) {
          if (isAt(bytes, i - Long.BYTES + 1, piece.bytes())) {
            found.computeIfAbsent(piece.name(), _ -> new TreeSet<>()).add(place);
          }
        }
      }
    }
  }

  private static boolean isAt(byte[] bytes, int at, byte[] piece) {
    for (int i = 0; i < LENGTH; i++) {
      if (at + i >= bytes.length || bytes[at + i] != piece[i]) {
        return false;
      }
    }
    return true;
  }
}
