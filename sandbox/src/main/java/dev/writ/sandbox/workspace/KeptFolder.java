package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Modes;
import dev.writ.sandbox.host.ProcessLock;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/**
 * A folder that programs find again in the next sandbox. One sandbox has it at a time, in whichever
 * process. Its content is hostile: it is read and given away without following a link.
 *
 * <p>Its place has {@code tree}, which the programs see; {@code lock}; and {@code holder}, the
 * words of who has it, which stay there where that process was killed.
 */
public final class KeptFolder implements AutoCloseable {
  private static final TreeLimits LIMITS =
      new TreeLimits(TreeLimits.STANDARD.entries(), Long.MAX_VALUE, TreeLimits.STANDARD.depth());

  /** What an entry takes, beside a file's bytes. */
  private static final long ENTRY_BYTES = 4_096;

  private static final String HOLDER = "holder";
  private static final String TREE = "tree";

  private final Path place;
  private final ProcessLock lock;
  private final String left;

  private KeptFolder(Path place, ProcessLock lock, String left) {
    this.place = place;
    this.lock = lock;
    this.left = left;
  }

  /**
   * Takes it, and makes it where it is missing.
   *
   * @param place below a directory that only this user may write to
   * @param holder who takes it, for {@link #holder}
   * @return empty where somebody has it
   * @throws WritException {@code SBX-007}
   */
  public static Optional<KeptFolder> take(Path place, String holder) {
    return io(() -> {
      Files.createDirectories(place.getParent());
      Modes.ensureDirectory(place.getParent(), Modes.PASSABLE);
      if (!Files.isDirectory(place, LinkOption.NOFOLLOW_LINKS)) {
        Modes.ensureDirectory(place, Modes.PRIVATE);
      }
      Optional<ProcessLock> lock = ProcessLock.take(place.resolve("lock"));
      if (lock.isEmpty()) {
        return Optional.empty();
      }
      try {
        String left = holder(place);
        Modes.writePrivate(place.resolve(HOLDER), holder.getBytes(StandardCharsets.UTF_8));
        if (!Files.isDirectory(place.resolve(TREE), LinkOption.NOFOLLOW_LINKS)) {
          Modes.makeDirectory(place.resolve(TREE), Modes.PRIVATE);
        }
        return Optional.of(new KeptFolder(place, lock.get(), left));
      } catch (IOException | RuntimeException e) {
        lock.get().close();
        throw e;
      }
    });
  }

  /** The words of who has it, or had it when its process was killed; else empty. */
  public static String holder(Path place) {
    return io(() -> {
      try {
        return Files.readString(place.resolve(HOLDER));
      } catch (NoSuchFileException e) {
        return "";
      }
    });
  }

  /** Whether there is one. */
  public static boolean isAt(Path place) {
    return Files.isDirectory(place.resolve(TREE), LinkOption.NOFOLLOW_LINKS);
  }

  /** Where the programs' files are. */
  public static Path tree(Path place) {
    return place.resolve(TREE);
  }

  public Path tree() {
    return tree(place);
  }

  /** The words of one whose process was killed while it had this; else empty. */
  public String left() {
    return left;
  }

  /**
   * Gives all of it to the user of a sandbox, and lets no other user pass to it. Nothing may run in
   * it.
   *
   * @param user negative for our own
   * @throws WritException {@code SBX-046} for a tree that is too deep or has too many entries
   */
  public void giveTo(long user) {
    if (user >= 0) {
      // Of an owner that nobody is: all files are given, whatever an interrupted one has left.
      new Workspace(tree(), -1, Optional.of(place)).giveTo(user, LIMITS);
    }
  }

  /**
   * How much it holds, also while programs change it: the bytes of its files, and 4096 for each
   * file, folder and link.
   *
   * @param most where counting may stop
   * @return more than {@code most} also for more entries than {@link TreeLimits#STANDARD} allows
   * @throws WritException {@code SBX-007} where a part of it cannot be looked at
   */
  public long bytes(long most) {
    return io(() -> {
      Counting counting = new Counting(most);
      try (SecureDirectoryStream<Path> root =
          Trees.secure(Files.newDirectoryStream(tree()), tree())) {
        counting.add(root, 0);
      } catch (DirectoryIteratorException e) {
        throw e.getCause();
      }
      return counting.bytes;
    });
  }

  private static final class Counting {
    private final long most;
    private long entries;
    private long bytes;

    Counting(long most) {
      this.most = most;
    }

    void add(SecureDirectoryStream<Path> directory, int depth) throws IOException {
      if (depth > LIMITS.depth()) {
        bytes = Long.MAX_VALUE;
      }
      for (Path entry : directory) {
        if (++entries > LIMITS.entries()) {
          bytes = Long.MAX_VALUE;
        }
        if (bytes > most) {
          return;
        }
        add(directory, entry.getFileName(), depth);
      }
    }

    private void add(SecureDirectoryStream<Path> directory, Path name, int depth)
        throws IOException {
      try {
        BasicFileAttributes attributes =
            directory
                .getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
                .readAttributes();
        bytes += ENTRY_BYTES + (attributes.isRegularFile() ? attributes.size() : 0);
        if (attributes.isDirectory()) {
          try (SecureDirectoryStream<Path> inner =
              directory.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS)) {
            add(inner, depth + 1);
          }
        }
      } catch (FileSystemException e) {
        if (isThere(directory, name)) {
          throw e;
        }
      }
    }

    /** Whether what could not be opened is a directory still: programs may remove it meanwhile. */
    private static boolean isThere(SecureDirectoryStream<Path> directory, Path name)
        throws IOException {
      try {
        return directory
            .getFileAttributeView(name, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
            .readAttributes()
            .isDirectory();
      } catch (NoSuchFileException e) {
        return false;
      }
    }
  }

  /** Removes it with all that it holds. */
  public void delete() {
    Trees.remove(tree());
    close();
  }

  /** Lets go of it; what it holds stays. Idempotent. */
  @Override
  public synchronized void close() {
    io(() -> {
      if (lock.isHeld()) {
        Files.deleteIfExists(place.resolve(HOLDER));
        lock.close();
      }
      return null;
    });
  }

  @FunctionalInterface
  private interface Work<T> {
    T run() throws IOException;
  }

  private static <T> T io(Work<T> work) {
    try {
      return work.run();
    } catch (IOException e) {
      throw new WritException(
          SandboxError.HOST, "a kept folder cannot be made, counted or given away", e);
    }
  }
}
