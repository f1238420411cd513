package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;

/**
 * Lists a tree in which no program runs: every entry, links as links, sorted by the bytes of the
 * whole name, so that a directory precedes its content.
 */
final class TreeWalk {
  private static final int MOST_NAME_BYTES = 4_000;

  private final TreeLimits limits;
  private final List<Entry> entries = new ArrayList<>();
  private long bytes;

  private TreeWalk(TreeLimits limits) {
    this.limits = limits;
  }

  /**
   * @throws WritException {@code SBX-046} for more than the limits allow
   */
  static List<Entry> of(Path root, TreeLimits limits) throws IOException {
    TreeWalk walk = new TreeWalk(limits);
    walk.directory(root, new byte[0], 0);
    walk.entries.sort(Comparator.comparing(Entry::name, Arrays::compareUnsigned));
    return walk.entries;
  }

  private void directory(Path directory, byte[] prefix, int depth) throws IOException {
    if (depth > limits.depth()) {
      throw tooMuch("nested more than " + limits.depth() + " deep");
    }
    List<Path> names = new ArrayList<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(directory)) {
      for (Path entry : stream) {
        names.add(entry.getFileName());
        if (entries.size() + names.size() > limits.entries()) {
          throw tooMuch("more than " + limits.entries() + " entries");
        }
      }
    }
    for (Path name : names) {
      entry(directory.resolve(name), join(prefix, RawNames.bytes(name)), depth);
    }
  }

  private void entry(Path path, byte[] name, int depth) throws IOException {
    if (name.length > MOST_NAME_BYTES) {
      throw tooMuch("a name of " + name.length + " bytes");
    }
    Map<String, Object> attributes =
        Files.readAttributes(path, "unix:mode,size", LinkOption.NOFOLLOW_LINKS);
    int mode = (Integer) attributes.get("mode");
    char kind = kind(mode);
    long size = kind == 'f' ? (Long) attributes.get("size") : 0;
    bytes += size;
    if (bytes > limits.bytes()) {
      throw tooMuch("more than " + limits.bytes() + " bytes");
    }
    entries.add(new Entry(kind, mode & 07777, size, name, path));
    if (kind == 'd') {
      directory(path, name, depth + 1);
    }
  }

  /** The file type bits of st_mode: inode(7). */
  private static char kind(int mode) {
    return switch (mode & 0170000) {
      case 0100000 -> 'f';
      case 0040000 -> 'd';
      case 0120000 -> 'l';
      case 0010000 -> 'p';
      case 0140000 -> 's';
      default -> 'c';
    };
  }

  private static byte[] join(byte[] prefix, byte[] name) {
    if (prefix.length == 0) {
      return name;
    }
    byte[] joined = Arrays.copyOf(prefix, prefix.length + 1 + name.length);
    joined[prefix.length] = '/';
    System.arraycopy(name, 0, joined, prefix.length + 1, name.length);
    return joined;
  }

  private static WritException tooMuch(String found) {
    return new WritException(SandboxError.TREE_LIMIT, found);
  }
}
