package dev.writ.ledger;

import dev.writ.canonicalize.disk.Disk;
import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/**
 * A disk whose operations fail on demand, and whose power can be cut: then only what a sync made
 * durable is left. A sync that fails drops what it was to write, and marks it clean, as Linux does:
 * the next sync succeeds and brings nothing back.
 */
final class CuttableDisk implements Disk {
  enum Operation {
    OPEN,
    WRITE,
    SYNC,
    SYNC_DIRECTORY,
    RENAME
  }

  /** Content by file: what the disk has, and whether the page cache has more to write. */
  private final Map<Path, Boolean> dirty = new TreeMap<>();

  private final Map<Path, byte[]> replaced = new TreeMap<>();
  private final Set<Path> durableNames = new TreeSet<>();
  private final Set<Path> lostNames = new TreeSet<>();
  private final Set<Path> wholeFiles = new TreeSet<>();
  private final Operation failing;
  private final int nth;
  private final boolean forEver;
  private int count;
  private boolean failed;

  /** Fails the {@code nth} operation of a kind, from 1; also all of that kind behind it. */
  CuttableDisk(Operation failing, int nth, boolean forEver) {
    this.failing = failing;
    this.nth = nth;
    this.forEver = forEver;
  }

  boolean hasFailed() {
    return failed;
  }

  private boolean fails(Operation operation) {
    if (operation != failing) {
      return false;
    }
    count++;
    boolean now = forEver ? count >= nth : count == nth;
    failed |= now;
    return now;
  }

  private static IOException error(Path file) {
    return new IOException(file.getFileName() + ": Input/output error");
  }

  @Override
  public synchronized FileChannel open(
      Path file, Set<StandardOpenOption> options, FileAttribute<?>... attributes)
      throws IOException {
    if (fails(Operation.OPEN)) {
      throw error(file);
    }
    dirty.put(file, false);
    wholeFiles.remove(file);
    return FileChannel.open(file, options, attributes);
  }

  @Override
  public synchronized void write(FileChannel channel, ByteBuffer content, Path file)
      throws IOException {
    boolean fails = fails(Operation.WRITE);
    if (fails) {
      content.limit(content.position() + content.remaining() / 2); // half of it is written
    }
    Disk.super.write(channel, content, file);
    dirty.put(file, true);
    if (fails) {
      throw error(file);
    }
  }

  @Override
  public synchronized void sync(FileChannel channel, Path file) throws IOException {
    boolean wrote = dirty.getOrDefault(file, false);
    dirty.put(file, false);
    if (fails(Operation.SYNC)) {
      // Every dirty page of the disk is gone, other files' too.
      dirty.replaceAll((_, _) -> false);
      throw new SyncFailed(file, error(file));
    }
    if (wrote) {
      wholeFiles.add(file);
    }
  }

  @Override
  public synchronized void syncDirectory(Path directory) throws IOException {
    List<Path> pending = new ArrayList<>();
    try (Stream<Path> names = Files.list(directory)) {
      names.filter(n -> !durableNames.contains(n) && !lostNames.contains(n)).forEach(pending::add);
    }
    if (fails(Operation.SYNC_DIRECTORY)) {
      lostNames.addAll(pending);
      throw new SyncFailed(directory, error(directory));
    }
    durableNames.addAll(pending);
    pending.forEach(replaced::remove);
  }

  @Override
  public synchronized void rename(Path from, Path to) throws IOException {
    if (fails(Operation.RENAME)) {
      throw error(to);
    }
    if (Files.exists(to) && !replaced.containsKey(to)) {
      replaced.put(to, Files.readAllBytes(to));
    }
    durableNames.remove(to);
    lostNames.remove(to);
    Disk.super.rename(from, to);
    wholeFiles.remove(to);
    if (wholeFiles.remove(from)) {
      wholeFiles.add(to);
    }
    dirty.remove(from);
    dirty.put(to, false);
  }

  /** What is there already is on the disk. */
  void settle(Path root) throws IOException {
    try (Stream<Path> all = Files.walk(root)) {
      all.forEach(durableNames::add);
    }
  }

  /** Cuts the power: names and content that no sync vouches for are gone. */
  synchronized void cut(Path root) throws IOException {
    List<Path> all;
    try (Stream<Path> paths = Files.walk(root)) {
      all = paths.sorted(Comparator.reverseOrder()).toList();
    }
    for (Path path : all) {
      if (!Files.exists(path) || !isOurs(path)) {
        continue;
      }
      if (!durableNames.contains(path)) {
        Optional<byte[]> before = Optional.ofNullable(replaced.get(path));
        DurableFiles.deleteTree(path);
        if (before.isPresent()) {
          Files.write(path, before.get());
        }
      } else if (dirty.containsKey(path) && !wholeFiles.contains(path)) {
        Files.write(path, new byte[0]);
      }
    }
  }

  /** Not RocksDB's: it has its own syncs. */
  private static boolean isOurs(Path path) {
    return Stream.iterate(path, p -> p != null, Path::getParent)
        .noneMatch(p -> p.getFileName() != null && p.getFileName().toString().equals("db"));
  }

  static byte[] content(int size, int seed) {
    byte[] content = new byte[size];
    Arrays.fill(content, (byte) seed);
    return content;
  }
}
