package dev.writ.ledger;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/** Files that are there after a power failure, and readable by their owner alone. */
final class DurableFiles {
  private static final FileAttribute<?>[] NO_ATTRIBUTES = {};

  private DurableFiles() {}

  static FileAttribute<?>[] ownerOnly(Path where, String permissions) {
    return where.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : NO_ATTRIBUTES;
  }

  /** Makes a directory of mode 0700, also against a looser umask, and its parents as they come. */
  static void createDirectory(Path dir) throws IOException {
    if (dir.getParent() != null) {
      Files.createDirectories(dir.getParent());
    }
    Files.createDirectory(dir, ownerOnly(dir, "rwx------"));
    sync(dir.getParent());
  }

  /** Takes an existing directory away from everybody but its owner. */
  static void restrict(Path dir) throws IOException {
    if (dir.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwx------"));
    }
  }

  /** Opens a new file of mode 0600 for writing. */
  static FileChannel createFile(Path file) throws IOException {
    Set<StandardOpenOption> options =
        EnumSet.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    return FileChannel.open(file, options, ownerOnly(file, "rw-------"));
  }

  /** Replaces a file as a whole: after a crash it has the old content or the new one. */
  static void write(Path file, byte[] content) throws IOException {
    Path fresh = file.resolveSibling(file.getFileName() + ".new");
    try (FileChannel channel = createFile(fresh)) {
      ByteBuffer buffer = ByteBuffer.wrap(content);
      while (buffer.hasRemaining()) {
        channel.write(buffer);
      }
      channel.force(true);
    }
    move(fresh, file);
  }

  /** Renames a synced file to its name and syncs the directory, so that the name lasts too. */
  static void move(Path from, Path to) throws IOException {
    Files.move(from, to, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    sync(to.getParent());
  }

  static void sync(Path dir) throws IOException {
    try (FileChannel channel = FileChannel.open(dir, StandardOpenOption.READ)) {
      channel.force(true);
    }
  }

  static void deleteTree(Path root) throws IOException {
    Files.walkFileTree(
        root,
        new SimpleFileVisitor<>() {
          @Override
          public FileVisitResult visitFile(Path file, BasicFileAttributes attributes)
              throws IOException {
            Files.delete(file);
            return FileVisitResult.CONTINUE;
          }

          @Override
          public FileVisitResult postVisitDirectory(Path dir, IOException e) throws IOException {
            if (e != null) {
              throw e;
            }
            Files.delete(dir);
            return FileVisitResult.CONTINUE;
          }
        });
  }
}
