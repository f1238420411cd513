package dev.writ.executor.simulation.disk;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A disk and the page cache over it. What a program sees is the cache; what a crash leaves is the
 * disk: all that a sync brought there, and of the rest whatever chance had written back by then,
 * pages and names in any order. A sync that fails drops what it was to write and marks it clean, as
 * Linux does: the next one succeeds and brings nothing back (fsync(2)).
 */
public final class MemoryDisk {
  /** What a program asks of the disk. */
  public enum Operation {
    OPEN,
    WRITE,
    SYNC,
    SYNC_DIRECTORY,
    RENAME,
    LINK,
    DELETE,
    CREATE_DIRECTORY
  }

  /** Decides which calls fail, and is told of each, at which others may come in. */
  public interface Faults {
    Faults NONE = (_, _) -> Optional.empty();

    /**
     * @return the error of this call, as in errno's text; none where it succeeds
     */
    Optional<String> before(Operation operation, Path path);

    /** After a call that succeeded, and after a sync that failed. */
    default void after(Operation operation) {}

    /** How many of these bytes one write takes, at least one. */
    default int taken(int bytes) {
      return bytes;
    }

    /** Whether the failing sync of this file drops the pages of every other one, too. */
    default boolean dropsAll(Path path) {
      return false;
    }
  }

  static final int PAGE = 4096;

  abstract static sealed class Node permits Directory, Content {}

  /** A change of a directory that is in the cache alone. */
  private record Change(Optional<String> removed, Optional<String> added, Node node) {
    void applyTo(TreeMap<String, Node> names) {
      removed.ifPresent(names::remove);
      added.ifPresent(name -> names.put(name, node));
    }
  }

  static final class Directory extends Node {
    final TreeMap<String, Node> names = new TreeMap<>();
    private final TreeMap<String, Node> durable = new TreeMap<>();
    private final List<Change> pending = new ArrayList<>();

    void change(Optional<String> removed, Optional<String> added, Node node) {
      Change change = new Change(removed, added, node);
      change.applyTo(names);
      pending.add(change);
    }

    void synced() {
      pending.forEach(change -> change.applyTo(durable));
      pending.clear();
    }
  }

  static final class Content extends Node {
    private byte[] cached = {};
    private byte[] durable = {};

    /** Pages that differ from the disk, as far as the cache knows. */
    private final TreeMap<Integer, Boolean> dirty = new TreeMap<>();

    byte[] bytes() {
      return cached;
    }

    void write(long position, byte[] bytes) {
      int end = Math.toIntExact(position + bytes.length);
      if (end > cached.length) {
        cached = java.util.Arrays.copyOf(cached, end);
      }
      System.arraycopy(bytes, 0, cached, (int) position, bytes.length);
      for (int page = (int) position / PAGE; page * PAGE < end; page++) {
        dirty.put(page, true);
      }
    }

    void truncate(long size) {
      if (size < cached.length) {
        cached = java.util.Arrays.copyOf(cached, (int) size);
        durable = java.util.Arrays.copyOf(durable, (int) Math.min(size, durable.length));
      }
    }

    void synced() {
      dirty.keySet().forEach(this::writeBack);
      dirty.clear();
    }

    private void writeBack(int page) {
      int from = page * PAGE;
      int to = Math.min(from + PAGE, cached.length);
      if (to > durable.length) {
        durable = java.util.Arrays.copyOf(durable, to); // what lies between reads as zeros
      }
      System.arraycopy(cached, from, durable, from, to - from);
    }
  }

  final Faults faults;
  private final Directory root;
  private int open;

  /** An empty one. */
  public MemoryDisk() {
    this(Faults.NONE, new Directory());
  }

  private MemoryDisk(Faults faults, Directory root) {
    this.faults = faults;
    this.root = root;
  }

  /** The directory at the top, by which a program reaches all. */
  public Path root() {
    return new DiskFileSystem(this).getPath("/");
  }

  /** How many files and directories are open. */
  public int open() {
    return open;
  }

  /** The same, cache and all, for the next process. */
  public MemoryDisk after(Faults next) {
    return new MemoryDisk(next, root);
  }

  /** What is there when the power is back. */
  public MemoryDisk afterCrash(SplittableRandom random, Faults next) {
    return new MemoryDisk(next, (Directory) crashed(root, random, new IdentityHashMap<>()));
  }

  private static Node crashed(
      Node node, SplittableRandom random, IdentityHashMap<Node, Node> known) {
    Node before = known.get(node);
    if (before != null) {
      return before;
    }
    switch (node) {
      case Directory directory -> {
        Directory left = new Directory();
        known.put(node, left);
        TreeMap<String, Node> names = new TreeMap<>(directory.durable);
        directory.pending.forEach(change -> {
          if (random.nextBoolean()) {
            change.applyTo(names);
          }
        });
        names.forEach((name, child) -> left.names.put(name, crashed(child, random, known)));
        left.durable.putAll(left.names);
        return left;
      }
      case Content content -> {
        Content left = new Content();
        known.put(node, left);
        left.cached = content.cached;
        left.durable = content.durable;
        content
            .dirty
            .keySet()
            .forEach(page -> {
              if (random.nextBoolean()) {
                left.writeBack(page);
              }
            });
        left.cached = left.durable;
        return left;
      }
    }
  }

  void call(Operation operation, Path path) throws IOException {
    Optional<String> error = faults.before(operation, path);
    if (error.isPresent()) {
      throw new FileSystemException(path.toString(), null, error.get());
    }
  }

  void sync(Node node, Path path) throws IOException {
    Operation operation = node instanceof Directory ? Operation.SYNC_DIRECTORY : Operation.SYNC;
    Optional<String> error = faults.before(operation, path);
    if (error.isPresent()) {
      drop(node);
      if (faults.dropsAll(path)) {
        dropContent(root);
      }
      faults.after(operation);
      throw new IOException(error.get());
    }
    switch (node) {
      case Directory directory -> directory.synced();
      case Content content -> content.synced();
    }
    faults.after(operation);
  }

  private static void drop(Node node) {
    switch (node) {
      case Directory directory -> directory.pending.clear();
      case Content content -> content.dirty.clear();
    }
  }

  private static void dropContent(Directory directory) {
    for (Node child : directory.names.values()) {
      switch (child) {
        case Directory below -> dropContent(below);
        case Content content -> content.dirty.clear();
      }
    }
  }

  void opened() {
    open++;
  }

  void closed() {
    open--;
  }

  /** What has that path, in the cache. */
  Optional<Node> find(Path path) {
    Node node = root;
    for (Path name : path.toAbsolutePath().normalize()) {
      node = node instanceof Directory d ? d.names.get(name.toString()) : null;
    }
    return Optional.ofNullable(node);
  }
}
