package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributeView;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Resolves a path below a root one directory at a time, each opened relative to the one before and
 * never through a link, as {@code openat2} does with {@code RESOLVE_BENEATH} and {@code
 * RESOLVE_NO_SYMLINKS}.
 */
final class Inside implements AutoCloseable {
  private final SecureDirectoryStream<Path> parent;
  private final Path name;

  private Inside(SecureDirectoryStream<Path> parent, Path name) {
    this.parent = parent;
    this.name = name;
  }

  /** The parts of a relative path, each a plain name. */
  static List<Path> parts(String path) {
    List<Path> parts = new ArrayList<>();
    for (String part : path.split("/", -1)) {
      byte[] bytes = part.getBytes(StandardCharsets.UTF_8);
      if (!RawNames.isPlain(bytes)) {
        throw new WritException(
            SandboxError.PATH_ESCAPES, "part " + (parts.size() + 1) + " is no plain name");
      }
      parts.add(RawNames.path(bytes));
    }
    return parts;
  }

  /**
   * @throws WritException {@code SBX-043} where a part is a link, {@code SBX-044} where one is
   *     missing, {@code SBX-045} where one is no directory
   */
  static Inside at(Path root, List<Path> parts) throws IOException {
    SecureDirectoryStream<Path> at = Trees.secure(Files.newDirectoryStream(root), root);
    int depth = 0;
    try {
      for (; depth < parts.size() - 1; depth++) {
        Path part = parts.get(depth);
        requireDirectory(at, part, depth);
        SecureDirectoryStream<Path> next = at.newDirectoryStream(part, LinkOption.NOFOLLOW_LINKS);
        at.close();
        at = next;
      }
      return new Inside(at, parts.getLast());
    } catch (NoSuchFileException e) {
      at.close();
      throw new WritException(SandboxError.PATH_MISSING, "part " + (depth + 1), e);
    } catch (NotDirectoryException e) {
      at.close();
      throw new WritException(SandboxError.PATH_KIND, "part " + (depth + 1), e);
    } catch (IOException | WritException e) {
      at.close();
      throw e;
    }
  }

  private static void requireDirectory(SecureDirectoryStream<Path> at, Path part, int depth)
      throws IOException {
    BasicFileAttributes found = attributes(at, part);
    if (found.isSymbolicLink()) {
      throw new WritException(
          SandboxError.PATH_ESCAPES, "part " + (depth + 1) + " is a symbolic link");
    }
    if (!found.isDirectory()) {
      throw new WritException(SandboxError.PATH_KIND, "part " + (depth + 1) + " is no directory");
    }
  }

  private static BasicFileAttributes attributes(SecureDirectoryStream<Path> at, Path part)
      throws IOException {
    return at.getFileAttributeView(part, BasicFileAttributeView.class, LinkOption.NOFOLLOW_LINKS)
        .readAttributes();
  }

  /** The last part's own attributes. */
  BasicFileAttributes attributes() throws IOException {
    try {
      return attributes(parent, name);
    } catch (NoSuchFileException e) {
      throw new WritException(SandboxError.PATH_MISSING, "the last part", e);
    }
  }

  /**
   * Opens a regular file for reading; its kind is checked first, since opening a FIFO would block.
   */
  SeekableByteChannel read() throws IOException {
    BasicFileAttributes found = attributes();
    if (found.isSymbolicLink()) {
      throw new WritException(SandboxError.PATH_ESCAPES, "it is a symbolic link");
    }
    if (!found.isRegularFile()) {
      throw new WritException(SandboxError.PATH_KIND, "it is no regular file");
    }
    return parent.newByteChannel(name, Set.of(StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS));
  }

  /** Removes anything but a directory; of a link, the link itself. */
  void remove() throws IOException {
    try {
      BasicFileAttributes found = attributes(parent, name);
      if (found.isDirectory()) {
        throw new WritException(SandboxError.PATH_KIND, "it is a directory");
      }
      parent.deleteFile(name);
    } catch (NoSuchFileException e) {
      // so much the better
    }
  }

  /** Makes a new file, replacing an existing one; a link is replaced, not followed. */
  SeekableByteChannel create() throws IOException {
    remove();
    Set<OpenOption> options =
        Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW, LinkOption.NOFOLLOW_LINKS);
    return parent.newByteChannel(name, options);
  }

  SecureDirectoryStream<Path> parent() {
    return parent;
  }

  Path name() {
    return name;
  }

  @Override
  public void close() throws IOException {
    parent.close();
  }
}
