package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.workspace.OpenTree.Content;
import dev.writ.sandbox.workspace.OpenTree.Item;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A directory of this host that a command sees as its workspace. Its content is copied into the
 * workspace before the command, and what the command changed is copied back after it. It is not
 * bound into the sandbox: a bind would have to be given to the sandbox's user, and has no limit of
 * its size. Callers must use a directory, with those above and below it, one at a time.
 *
 * <p>Links are copied as links and never followed. Pipes, sockets and devices are not copied. While
 * a command runs others may change the directory: what the command did not touch stays as they left
 * it.
 */
public final class HostDirectory {
  /** Held while a directory is made: two of one parent would take each other's unfinished one. */
  private static final Object MAKING = new Object();

  private final Path root;
  private final List<Path> below;

  private HostDirectory(Path root, List<Path> below) {
    this.root = root;
    this.below = List.copyOf(below);
  }

  /**
   * A directory below a root. Links on the way are resolved.
   *
   * @param root an existing directory
   * @param relative in normal form, {@code .} for the root; made where it is missing
   * @throws WritException {@code SBX-043} where a link leads out of the root, {@code SBX-045} where
   *     it is no directory
   */
  public static HostDirectory below(Path root, String relative) {
    return io(() -> {
      Path real = root.toRealPath();
      Path wanted = real.resolve(relative).normalize();
      Path there = wanted;
      while (!Files.exists(there, LinkOption.NOFOLLOW_LINKS)) {
        there = there.getParent();
      }
      Path found = there.toRealPath();
      if (!wanted.startsWith(real) || !found.startsWith(real)) {
        throw new WritException(SandboxError.PATH_ESCAPES, "a link leads out of the root");
      }
      Path directory = found.resolve(there.relativize(wanted));
      if (Files.exists(directory) && !Files.isDirectory(directory)) {
        throw new WritException(SandboxError.PATH_KIND, "it is no directory");
      }
      List<Path> parts = new ArrayList<>();
      real.relativize(directory.normalize()).forEach(parts::add);
      parts.removeIf(part -> part.toString().isEmpty());
      return new HostDirectory(real, parts);
    });
  }

  /**
   * A directory below this one, which is made if it is missing. Links on the way are resolved.
   *
   * @throws WritException as {@link #below(Path, String)}, {@code SBX-043} also where a link leads
   *     out of this directory
   */
  public HostDirectory below(String relative) {
    io(() -> {
      make();
      return null;
    });
    HostDirectory inner = below(path(), relative);
    List<Path> parts = new ArrayList<>(below);
    parts.addAll(inner.below);
    return new HostDirectory(root, parts);
  }

  /** Its real path. */
  public Path path() {
    Path path = root;
    for (Path part : below) {
      path = path.resolve(part);
    }
    return path;
  }

  /** What a workspace had when it was filled from the directory. */
  public static final class Brought {
    private final Content content;

    private Brought(Content content) {
      this.content = content;
    }
  }

  /**
   * @param written entries that were made or changed
   * @param removed entries
   */
  public record Changes(long written, long removed) {}

  /**
   * Makes a workspace equal to the directory.
   *
   * @param limits of the directory's content
   * @throws WritException {@code SBX-046}; {@code SBX-007} where it does not fit
   */
  public Brought bring(Workspace workspace, TreeLimits limits) {
    return io(() -> {
      make();
      try (OpenTree host = OpenTree.at(root, below);
          OpenTree inside = OpenTree.at(workspace.directory(), List.of())) {
        host.sweep();
        Path left = workspace.directory().resolve(OpenTree.PART);
        if (Files.isDirectory(left, LinkOption.NOFOLLOW_LINKS)) {
          Trees.remove(left); // a command made it: nothing runs in the workspace now
        }
        inside.sweep();
        Content wanted = host.read(limits);
        Content before = inside.read(TreeLimits.STANDARD);
        for (String other : before.others()) {
          inside.remove(other, false);
        }
        Copying copying = new Copying(host, inside);
        copying.apply(before, wanted);
        TreeMap<String, Item> now = new TreeMap<>(wanted.items());
        now.putAll(copying.differing);
        return new Brought(new Content(now, List.of()));
      }
    });
  }

  /**
   * Copies back what changed in the workspace since it was filled.
   *
   * @throws WritException {@code SBX-043} where a link was made that leads out of the directory:
   *     then nothing is copied
   */
  public Changes takeBack(Workspace workspace, Brought brought) {
    return io(() -> {
      try (OpenTree host = OpenTree.at(root, below);
          OpenTree inside = OpenTree.at(workspace.directory(), List.of())) {
        Content after = inside.read(TreeLimits.STANDARD);
        requireLinksInside(brought.content, after);
        Copying copying = new Copying(inside, host);
        copying.apply(brought.content, after);
        return new Changes(copying.written, copying.removed);
      }
    });
  }

  /** Makes what is missing of it, for the owner of the directory around. */
  private void make() throws IOException {
    synchronized (MAKING) {
      for (int i = 0; i < below.size(); i++) {
        try (OpenTree around = OpenTree.at(root, below.subList(0, i))) {
          if (!around.has(below.get(i))) {
            around.sweep();
            around.makeTop(below.get(i));
          }
        }
      }
    }
  }

  private static void requireLinksInside(Content before, Content after) {
    for (Map.Entry<String, Item> entry : after.items().entrySet()) {
      Item item = entry.getValue();
      if (item.target().isPresent() && !item.equals(before.items().get(entry.getKey()))) {
        int depth = entry.getKey().split("/").length - 1;
        if (leadsOut(item.target().get(), depth)) {
          throw new WritException(
              SandboxError.PATH_ESCAPES, "the command made a link that leads out of the directory");
        }
      }
    }
  }

  /**
   * Whether a link's target may be outside. Steps upwards after a name count as such, since the
   * name may be another link.
   *
   * @param depth directories above the link
   */
  private static boolean leadsOut(Path target, int depth) {
    int up = 0;
    boolean named = false;
    for (Path part : target) {
      if (part.toString().equals("..")) {
        if (named || ++up > depth) {
          return true;
        }
      } else if (!part.toString().equals(".")) {
        named = true;
      }
    }
    return target.isAbsolute();
  }

  /** Makes one tree what another is, given what it was. */
  private static final class Copying {
    private final OpenTree from;
    private final OpenTree to;

    /** Files that had changed when they were copied. */
    private final TreeMap<String, Item> differing = new TreeMap<>();

    private long written;
    private long removed;

    Copying(OpenTree from, OpenTree to) {
      this.from = from;
      this.to = to;
    }

    void apply(Content before, Content wanted) throws IOException {
      for (String name : new TreeMap<>(before.items()).descendingKeySet()) {
        Item old = before.items().get(name);
        Item item = wanted.items().get(name);
        if (item == null || item.kind() != old.kind()) {
          to.remove(name, old.isDirectory());
          removed += item == null ? 1 : 0;
        }
      }
      for (Map.Entry<String, Item> entry : wanted.items().entrySet()) {
        Item old = before.items().get(entry.getKey());
        if (!entry.getValue().equals(old)) {
          boolean same = old != null && old.kind() == entry.getValue().kind();
          put(entry.getKey(), entry.getValue(), same ? old : null);
          written++;
        }
      }
      // Last, since nothing can be put into a directory that may not be written.
      for (String name : new TreeMap<>(wanted.items()).descendingKeySet()) {
        Item item = wanted.items().get(name);
        if (item.isDirectory() && !item.equals(before.items().get(name))) {
          to.permit(name, item.permissions());
        }
      }
    }

    /**
     * @param old what is there, of the same kind; null for nothing
     */
    private void put(String name, Item item, Item old) throws IOException {
      switch (item.kind()) {
        case 'd' -> {
          if (old == null) {
            to.makeDirectory(name);
          }
        }
        case 'l' -> to.makeLink(name, item.target().orElseThrow());
        default -> {
          if (old != null && old.digest().equals(item.digest())) {
            to.permit(name, item.permissions());
          } else {
            Item copied = item.withDigest(to.putFile(name, from, item));
            if (!copied.equals(item)) {
              differing.put(name, copied);
            }
          }
        }
      }
    }
  }

  @FunctionalInterface
  private interface Work<T> {
    T run() throws IOException;
  }

  private static <T> T io(Work<T> work) {
    try {
      return work.run();
    } catch (IOException | DirectoryIteratorException e) {
      String why = FullDisk.is(e) ? "the disk is full" : e.getClass().getSimpleName();
      throw new WritException(SandboxError.HOST, "a directory cannot be copied: " + why, e);
    }
  }
}
