package dev.writ.sandbox.host;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/**
 * Removes trees that hostile programs wrote: relative to open directories, without following links.
 */
public final class Trees {
  /** A program may make more levels than a process may open directories. */
  private static final int LEVELS_OPEN_MAX = 32;

  private static final Set<PosixFilePermission> OWNERS =
      PosixFilePermissions.fromString("rwx------");

  private Trees() {}

  private record Level(Path name, SecureDirectoryStream<Path> stream, Deque<Path> left) {}

  /**
   * Removes a directory and everything below it, if it exists. Of its levels 32 are open at once;
   * what lies deeper is moved up first.
   *
   * @throws WritException {@code SBX-007}
   */
  public static void remove(Path directory) {
    try {
      clear(directory);
      Files.deleteIfExists(directory);
    } catch (NoSuchFileException e) {
      return;
    } catch (IOException | DirectoryIteratorException e) {
      throw new WritException(SandboxError.HOST, "cannot remove " + directory, e);
    }
  }

  /** Removes everything below a directory, but not the directory. */
  public static void clear(Path directory) throws IOException {
    Deque<Level> levels = new ArrayDeque<>();
    try {
      levels.push(open(null, directory));
      while (!levels.isEmpty()) {
        Level level = levels.peek();
        Path next = level.left().poll();
        if (next != null) {
          step(levels, level, next);
          continue;
        }
        levels.pop();
        level.stream().close();
        if (!levels.isEmpty()) {
          levels.peek().stream().deleteDirectory(level.name());
        }
      }
    } finally {
      for (Level level : levels) {
        level.stream().close();
      }
    }
  }

  private static void step(Deque<Level> levels, Level level, Path next) throws IOException {
    boolean isDirectory =
        level.stream()
            .getFileAttributeView(next, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
            .readAttributes()
            .isDirectory();
    if (isDirectory && levels.size() == LEVELS_OPEN_MAX) {
      Path up = Path.of(".deep-" + UUID.randomUUID());
      Level top = levels.peekLast();
      move(level.stream(), next, top.stream(), up);
      top.left().add(up);
    } else if (isDirectory) {
      levels.push(open(level.stream(), next));
    } else {
      level.stream().deleteFile(next);
    }
  }

  private static void move(
      SecureDirectoryStream<Path> from, Path name, SecureDirectoryStream<Path> to, Path target)
      throws IOException {
    try {
      from.move(name, to, target);
    } catch (AccessDeniedException e) {
      unlock(from, name); // its own entry ".." changes
      from.move(name, to, target);
    }
  }

  private static Level open(SecureDirectoryStream<Path> parent, Path name) throws IOException {
    SecureDirectoryStream<Path> stream;
    if (parent == null) {
      stream = secure(Files.newDirectoryStream(name), name);
    } else {
      stream = openOrUnlock(parent, name);
    }
    if (parent != null) {
      ownIt(stream);
    }
    List<Path> names = new ArrayList<>();
    for (Path entry : stream) {
      names.add(entry.getFileName());
    }
    return new Level(name, stream, new ArrayDeque<>(names));
  }

  private static SecureDirectoryStream<Path> openOrUnlock(
      SecureDirectoryStream<Path> parent, Path name) throws IOException {
    try {
      return parent.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
    } catch (AccessDeniedException e) {
      unlock(parent, name);
      return parent.newDirectoryStream(name, LinkOption.NOFOLLOW_LINKS);
    }
  }

  /** A program made it such that nothing in it can be removed, even by its owner. */
  private static void ownIt(SecureDirectoryStream<Path> stream) throws IOException {
    PosixFileAttributeView view = stream.getFileAttributeView(PosixFileAttributeView.class);
    if (!view.readAttributes().permissions().containsAll(OWNERS)) {
      view.setPermissions(OWNERS);
    }
  }

  /** A program made it unreadable, even for its owner. */
  private static void unlock(SecureDirectoryStream<Path> parent, Path name) throws IOException {
    parent.getFileAttributeView(name, PosixFileAttributeView.class).setPermissions(OWNERS);
  }

  /**
   * @throws IOException where the file system cannot open relative to a directory
   */
  public static SecureDirectoryStream<Path> secure(DirectoryStream<Path> stream, Path what)
      throws IOException {
    if (stream instanceof SecureDirectoryStream<Path> s) {
      return s;
    }
    stream.close();
    throw new IOException(what + " has no directories that can be held open");
  }
}
