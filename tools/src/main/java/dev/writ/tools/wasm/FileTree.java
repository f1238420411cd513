package dev.writ.tools.wasm;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/** The files that a guest can see: in memory, read-only, listed in the order of their names. */
public final class FileTree {

  /** A directory or file; {@code inode} numbers them in the order in which they were added. */
  sealed interface Node {
    long inode();
  }

  /** A directory. */
  static final class Dir implements Node {
    private final long inode;
    private final TreeMap<String, Node> children = new TreeMap<>();

    Dir(long inode) {
      this.inode = inode;
    }

    @Override
    public long inode() {
      return inode;
    }

    SortedMap<String, Node> children() {
      return Collections.unmodifiableSortedMap(children);
    }
  }

  /** A file and its bytes. */
  record File(long inode, byte[] bytes) implements Node {}

  private final Dir root = new Dir(1);
  private long inodes = 1;

  Dir root() {
    return root;
  }

  /**
   * Adds a file.
   *
   * @throws IllegalArgumentException unless each part of the path is a plain name and the last is
   *     new
   */
  public void add(List<String> path, byte[] bytes) {
    Dir dir = root;
    for (String part : path.subList(0, path.size() - 1)) {
      if (!isPlainName(part)) {
        throw new IllegalArgumentException("not a plain name");
      }
      if (!(dir.children.computeIfAbsent(part, p -> new Dir(++inodes)) instanceof Dir next)) {
        throw new IllegalArgumentException("a file stands where a directory must");
      }
      dir = next;
    }
    String name = path.getLast();
    if (!isPlainName(name) || dir.children.containsKey(name)) {
      throw new IllegalArgumentException("not a plain name, or there twice");
    }
    dir.children.put(name, new File(++inodes, bytes));
  }

  /** Adds an empty directory under the root, if it is not there. */
  public void addDirectory(String name) {
    root.children.computeIfAbsent(name, n -> new Dir(++inodes));
  }

  /** Whether a name can stand for one file: not empty, no dots alone, no separator, no NUL. */
  public static boolean isPlainName(String name) {
    return !name.isEmpty()
        && !name.equals(".")
        && !name.equals("..")
        && name.indexOf('/') < 0
        && name.indexOf('\0') < 0;
  }

  /** The names from the root to a path, or null for one that leaves the tree. */
  static List<String> names(List<String> base, String path) {
    List<String> names = new ArrayList<>(base);
    for (String part : path.split("/", -1)) {
      if (part.equals("..")) {
        if (names.isEmpty()) {
          return null;
        }
        names.removeLast();
      } else if (!part.isEmpty() && !part.equals(".")) {
        names.add(part);
      }
    }
    return names;
  }

  /** The result of a walk: a node, or that there is none, or that the path leaves the tree. */
  record Found(Node node, int errno) {}

  /**
   * Walks from the root; {@code base} are the names that lead to the starting directory of the
   * path.
   */
  Found find(List<String> base, String path) {
    List<String> names = names(base, path);
    if (names == null) {
      return new Found(null, Errno.NOTCAPABLE);
    }
    Node node = root;
    for (String name : names) {
      if (!(node instanceof Dir dir)) {
        return new Found(null, Errno.NOTDIR);
      }
      node = dir.children.get(name);
      if (node == null) {
        return new Found(null, Errno.NOENT);
      }
    }
    if (path.endsWith("/") && node instanceof File) {
      return new Found(null, Errno.NOTDIR);
    }
    return new Found(node, Errno.SUCCESS);
  }
}
