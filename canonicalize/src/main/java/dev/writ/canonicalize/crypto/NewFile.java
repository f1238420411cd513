package dev.writ.canonicalize.crypto;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/**
 * Writes a file that must not exist yet: under another name first, with mode 0600 from the start,
 * then linked to its name, which fails where the name is taken. No reader sees half a file, no
 * crash leaves one, and nothing is overwritten.
 */
final class NewFile {
  private static final Set<StandardOpenOption> CREATE =
      EnumSet.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

  private static final FileAttribute<?>[] NO_MODE = {};
  private static final FileAttribute<?> OWNERS_ALONE =
      PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));

  private NewFile() {}

  /** Whether the file system of the path knows permissions. */
  static boolean hasPosix(Path path) {
    Path existing = path.toAbsolutePath().getParent();
    return existing != null
        && Files.getFileAttributeView(existing, PosixFileAttributeView.class) != null;
  }

  /**
   * @param needsPermissions whether to refuse a file system that cannot keep other users from
   *     reading the content
   */
  static void write(Path path, byte[] content, boolean needsPermissions, DurableFiles disk)
      throws IOException {
    boolean posix = hasPosix(path);
    if (needsPermissions && !posix) {
      throw new WritException(
          CanonicalizeError.KEY_FILE_EXPOSED,
          path + " would be plain, on a file system that has no POSIX permissions");
    }
    if (Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
      throw new WritException(CanonicalizeError.KEY_FILE_EXISTS, path.toString());
    }
    Path absolute = path.toAbsolutePath();
    // A name of its own: of two writers neither may publish the other's draft. Mode 0600 by
    // default.
    Path draft =
        Files.createTempFile(absolute.getParent(), "." + absolute.getFileName() + ".", ".new");
    try {
      try (FileChannel channel = FileChannel.open(draft, StandardOpenOption.WRITE)) {
        fill(disk, channel, content, draft);
      }
      publish(disk, draft, absolute, content, posix);
    } catch (FileAlreadyExistsException e) {
      throw new WritException(CanonicalizeError.KEY_FILE_EXISTS, e.getFile(), e);
    } finally {
      Files.deleteIfExists(draft);
    }
    if (!posix) {
      return; // where there are no permissions, directories cannot be opened either
    }
    try {
      disk.syncDirectory(absolute.getParent());
    } catch (IOException e) {
      Files.deleteIfExists(
          absolute); // the name might not survive a power failure, so it must not be relied on
      throw e;
    }
  }

  private static void publish(
      DurableFiles disk, Path draft, Path target, byte[] content, boolean posix)
      throws IOException {
    try {
      Files.createLink(target, draft);
    } catch (FileAlreadyExistsException e) {
      throw e;
    } catch (UnsupportedOperationException | FileSystemException e) {
      // No hard links on this file system: create the file under its final name instead, and never
      // replace one.
      FileAttribute<?>[] mode = posix ? new FileAttribute<?>[] {OWNERS_ALONE} : NO_MODE;
      FileChannel created = FileChannel.open(target, CREATE, mode);
      try (created) {
        fill(disk, created, content, target);
      } catch (IOException failure) {
        Files.deleteIfExists(target);
        throw failure;
      }
    }
  }

  private static void fill(DurableFiles disk, FileChannel channel, byte[] content, Path file)
      throws IOException {
    disk.write(channel, ByteBuffer.wrap(content), file);
    disk.sync(channel, file);
  }
}
