package dev.writ.verify.simulation.disk;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A disk and the page cache over it. What a program sees is the cache; what a crash leaves is the
 * disk: all that a sync brought there, and of the rest whatever chance had written back by then,
 * pages and names in any order. A sync that fails drops what it was to write and marks it clean, as
 * Linux does: the next one succeeds and brings nothing back (fsync(2)). So it is with names for the
 * process that saw the failure, which then must not count on them. For the next one they are still
 * to be written: a file system that cannot write its journal stops, and shows no name that it has
 * lost (Rebello et al., "Can Applications Recover from fsync Failures?", USENIX ATC 2020).
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

    /** Whether the fault that fails the sync of this file takes the pages of all others, too. */
    default boolean dropsAll(Path path) {
      return false;
    }

    /**
     * Whether the next sync of this file tells that a fault which another file's sync was told of
     * has taken its pages. Linux tells it, once (Documentation/core-api/errseq); who was told
     * already must not count on that.
     */
    default boolean tellsOfLoss(Path path) {
      return true;
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

    boolean isSeenIn(TreeMap<String, Node> names) {
      return removed.stream().noneMatch(names::containsKey)
          && added.stream().allMatch(name -> names.get(name) == node);
    }
  }

  static final class Directory extends Node {
    final TreeMap<String, Node> names = new TreeMap<>();
    private final TreeMap<String, Node> durable = new TreeMap<>();
    private final List<Change> pending = new ArrayList<>();

    /** Changes that a failed sync was to bring to the disk. */
    private final List<Change> dropped = new ArrayList<>();

    void change(Optional<String> removed, Optional<String> added, Node node) {
      Change change = new Change(removed, added, node);
      change.applyTo(names);
      pending.add(change);
    }

    void synced() {
      pending.forEach(change -> change.applyTo(durable));
      pending.clear();
    }

    void drop() {
      dropped.addAll(pending);
      pending.clear();
    }

    /** What was dropped, and nothing later has undone, is to be written again. */
    void remember() {
      dropped.removeIf(change -> !change.isSeenIn(names));
      pending.addAll(0, dropped);
      dropped.clear();
    }
  }

  /** Its arrays are shared by every outcome of a crash, and never written into. */
  static final class Content extends Node {
    private byte[] cached = {};
    private OptionalInt hash = OptionalInt.empty();
    private byte[] durable = {};

    /** Pages that differ from the disk, as far as the cache knows. */
    private final TreeMap<Integer, Boolean> dirty = new TreeMap<>();

    /** Pages were lost, and no sync of this file has told it yet. */
    private boolean lost;

    byte[] bytes() {
      return cached;
    }

    int hash() {
      if (hash.isEmpty()) {
        hash = OptionalInt.of(Arrays.hashCode(cached));
      }
      return hash.getAsInt();
    }

    void write(long position, byte[] bytes) {
      int end = Math.toIntExact(position + bytes.length);
      hash = OptionalInt.empty();
      cached = Arrays.copyOf(cached, Math.max(end, cached.length));
      System.arraycopy(bytes, 0, cached, (int) position, bytes.length);
      for (int page = (int) position / PAGE; page * PAGE < end; page++) {
        dirty.put(page, true);
      }
    }

    void truncate(long size) {
      if (size < cached.length) {
        hash = OptionalInt.empty();
        cached = Arrays.copyOf(cached, (int) size);
        durable = Arrays.copyOf(durable, (int) Math.min(size, durable.length));
        dirty.tailMap(Math.toIntExact((size + PAGE - 1) / PAGE), true).clear();
      }
    }

    void synced() throws IOException {
      durable = writtenBack(dirty.keySet());
      dirty.clear();
      if (lost) {
        lost = false;
        throw new IOException("Input/output error");
      }
    }

    void lose(boolean told) {
      lost |= told && !dirty.isEmpty();
      dirty.clear();
    }

    /** What the disk has once these pages are written back. */
    private byte[] writtenBack(Collection<Integer> pages) {
      if (pages.isEmpty()) {
        return durable;
      }
      int end = Math.min(Collections.max(pages) * PAGE + PAGE, cached.length);
      byte[] written = Arrays.copyOf(durable, Math.max(end, durable.length)); // zeros in between
      for (int page : pages) {
        int from = page * PAGE;
        System.arraycopy(cached, from, written, from, Math.min(PAGE, cached.length - from));
      }
      return Arrays.equals(written, cached) ? cached : written;
    }
  }

  /** How much of what no sync has brought to the disk a power cut finds there all the same. */
  private enum Unsynced {
    NOTHING,
    ALL,
    BY_CHANCE;

    static Unsynced choose(SplittableRandom random) {
      int dice = random.nextInt(4);
      return dice == 0 ? NOTHING : dice == 1 ? ALL : BY_CHANCE;
    }

    boolean isThere(SplittableRandom random) {
      return switch (this) {
        case NOTHING -> false;
        case ALL -> true;
        case BY_CHANCE -> random.nextBoolean();
      };
    }
  }

  final Faults faults;
  private final Directory root;
  private final Set<Node> locked = Collections.newSetFromMap(new IdentityHashMap<>());
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
    remember(root);
    return new MemoryDisk(next, root);
  }

  /** The same for the same names and contents, and hardly ever for others. */
  public long fingerprint() {
    return fingerprint(root);
  }

  private static long fingerprint(Node node) {
    return switch (node) {
      case Directory directory -> {
        long sum = 1;
        for (Map.Entry<String, Node> name : directory.names.entrySet()) {
          sum = 1_000_003 * sum + name.getKey().hashCode();
          sum = 1_000_003 * sum + fingerprint(name.getValue());
        }
        yield sum;
      }
      case Content content -> content.hash();
    };
  }

  /** What is there when the power is back. */
  public MemoryDisk afterCrash(SplittableRandom random, Faults next) {
    Unsynced unsynced = Unsynced.choose(random);
    return new MemoryDisk(
        next, (Directory) crashed(root, unsynced, random, new IdentityHashMap<>()));
  }

  private static Node crashed(
      Node node, Unsynced unsynced, SplittableRandom random, IdentityHashMap<Node, Node> known) {
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
          if (unsynced.isThere(random)) {
            change.applyTo(names);
          }
        });
        names.forEach(
            (name, child) -> left.names.put(name, crashed(child, unsynced, random, known)));
        left.durable.putAll(left.names);
        return left;
      }
      case Content content -> {
        Content left = new Content();
        known.put(node, left);
        left.durable =
            content.writtenBack(
                content.dirty.keySet().stream().filter(_ -> unsynced.isThere(random)).toList());
        left.cached = left.durable;
        if (left.cached == content.cached) {
          left.hash = OptionalInt.of(content.hash());
        }
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
        loseContent(root, root());
      }
      faults.after(operation);
      throw new IOException(error.get());
    }
    try {
      switch (node) {
        case Directory directory -> directory.synced();
        case Content content -> content.synced();
      }
    } finally {
      faults.after(operation);
    }
  }

  private static void drop(Node node) {
    switch (node) {
      case Directory directory -> directory.drop();
      case Content content -> content.dirty.clear();
    }
  }

  private static void remember(Directory directory) {
    directory.remember();
    for (Node child : directory.names.values()) {
      if (child instanceof Directory below) {
        remember(below);
      }
    }
  }

  private void loseContent(Directory directory, Path path) {
    directory.names.forEach((name, child) -> {
      Path of = path.resolve(name);
      switch (child) {
        case Directory below -> loseContent(below, of);
        case Content content -> content.lose(faults.tellsOfLoss(of));
      }
    });
  }

  /**
   * What a file holds, in the cache.
   *
   * @return bytes that are never written into; none where there is no such file
   */
  public Optional<byte[]> content(Path path) {
    return find(path).map(node -> node instanceof Content content ? content.bytes() : null);
  }

  /**
   * Locks what a path leads to, as flock(2) does, for one of the processes of this machine.
   *
   * @return lets go; nothing where it is locked
   */
  public Optional<Runnable> lock(Path path) {
    Node node = find(path).orElseThrow();
    return locked.add(node) ? Optional.of(() -> locked.remove(node)) : Optional.empty();
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
