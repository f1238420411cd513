package dev.writ.canonicalize.disk;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileSystemException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.Set;

/**
 * Files that are there after a power failure, and readable by their owner alone. Every method
 * returns when what it did is on the disk, or throws; after a {@link Disk.SyncFailed} the caller
 * must not go on with what it wrote, nor count on a second sync of the same file or directory.
 */
public final class DurableFiles {
  /** On the disk of this machine. */
  public static final DurableFiles REAL = new DurableFiles(Disk.REAL);

  private static final FileAttribute<?>[] NO_ATTRIBUTES = {};

  private final Disk disk;

  public DurableFiles(Disk disk) {
    this.disk = disk;
  }

  private static FileAttribute<?>[] ownerOnly(Path where, String permissions) {
    return where.getFileSystem().supportedFileAttributeViews().contains("posix")
        ? new FileAttribute<?>[] {
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString(permissions))
        }
        : NO_ATTRIBUTES;
  }

  /** Makes a directory, and the missing ones above it, of mode 0700 whatever the umask. */
  public void createDirectory(Path dir) throws IOException {
    Path absolute = dir.toAbsolutePath();
    if (absolute.getParent() != null) {
      createDirectories(absolute.getParent());
    }
    Files.createDirectory(absolute, ownerOnly(absolute, "rwx------"));
    disk.syncDirectory(absolute.getParent());
  }

  /** Makes the directories that are missing, each of mode 0700; existing ones stay as they are. */
  public void createDirectories(Path dir) throws IOException {
    if (!Files.isDirectory(dir)) {
      createDirectory(dir);
    }
  }

  /**
   * Makes a directory where it is missing, and brings its name to the disk in any case: a process
   * that made it may have ended before it synced that.
   */
  public void settleDirectory(Path dir) throws IOException {
    if (Files.isDirectory(dir)) {
      disk.syncDirectory(dir.toAbsolutePath().getParent());
    } else {
      createDirectory(dir);
    }
  }

  /** Removes everybody's access to an existing directory but its owner's. */
  public static void restrict(Path dir) throws IOException {
    if (dir.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      Files.setPosixFilePermissions(dir, PosixFilePermissions.fromString("rwx------"));
    }
  }

  /** Opens a new file of mode 0600 for writing. */
  public FileChannel createFile(Path file) throws IOException {
    Set<StandardOpenOption> options =
        EnumSet.of(
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE);
    return disk.open(file, options, ownerOnly(file, "rw-------"));
  }

  /** Writes all that remains in the buffer; it is not durable before {@link #sync}. */
  public void write(FileChannel channel, ByteBuffer content, Path file) throws IOException {
    disk.write(channel, content, file);
  }

  public void sync(FileChannel channel, Path file) throws IOException {
    disk.sync(channel, file);
  }

  public void syncDirectory(Path directory) throws IOException {
    disk.syncDirectory(directory);
  }

  /**
   * Replaces a file as a whole, for its only writer: after a crash it has the old content or the
   * new one.
   */
  public void write(Path file, byte[] content) throws IOException {
    Path fresh = file.resolveSibling("." + file.getFileName() + ".new");
    // A file left by an earlier failure is not written over: its pages may be lost for good.
    Files.deleteIfExists(fresh);
    try (FileChannel channel = createFile(fresh)) {
      disk.write(channel, ByteBuffer.wrap(content), fresh);
      disk.sync(channel, fresh);
    } catch (IOException | RuntimeException e) {
      try {
        Files.deleteIfExists(fresh);
      } catch (IOException e2) {
        e.addSuppressed(e2);
      }
      throw e;
    }
    move(fresh, file);
  }

  /**
   * Replaces the content of a file that others edit too, as a whole. It keeps its mode, owner and
   * group; a link stays, and the file that it leads to is replaced.
   *
   * @param before the content that the new one was made of
   * @throws Changed where the file has another content by now; it keeps that
   */
  public void update(Path file, byte[] before, byte[] content) throws IOException {
    Path target = file.toRealPath();
    PosixFileAttributes kept = Files.readAttributes(target, PosixFileAttributes.class);
    replace(
        target,
        content,
        fresh -> resemble(fresh, kept),
        () -> {
          if (!Arrays.equals(Files.readAllBytes(target), before)) {
            throw new Changed(target);
          }
        });
  }

  /**
   * Replaces a file as {@link #write} does, also where several do so at once: what is there is
   * always what one of them wrote, whole.
   */
  public void replace(Path file, byte[] content) throws IOException {
    replace(file.toAbsolutePath(), content, _ -> {}, () -> {});
  }

  private interface OnDraft {
    void run(Path draft) throws IOException;
  }

  private interface BeforeRename {
    void run() throws IOException;
  }

  private void replace(Path target, byte[] content, OnDraft written, BeforeRename synced)
      throws IOException {
    // A name of its own: of two writers neither may publish the other's draft. Mode 0600 by
    // default.
    Path fresh = Files.createTempFile(target.getParent(), "." + target.getFileName() + ".", ".new");
    try {
      try (FileChannel channel = disk.open(fresh, EnumSet.of(StandardOpenOption.WRITE))) {
        disk.write(channel, ByteBuffer.wrap(content), fresh);
        written.run(fresh);
        disk.sync(channel, fresh);
      }
      synced.run();
      move(fresh, target);
    } finally {
      Files.deleteIfExists(fresh);
    }
  }

  private static void resemble(Path fresh, PosixFileAttributes kept) throws IOException {
    PosixFileAttributeView view = Files.getFileAttributeView(fresh, PosixFileAttributeView.class);
    PosixFileAttributes now = view.readAttributes();
    // Only root may give files away; whoever is not root has the same owner mostly.
    if (!now.owner().equals(kept.owner())) {
      view.setOwner(kept.owner());
    }
    if (!now.group().equals(kept.group())) {
      view.setGroup(kept.group());
    }
    view.setPermissions(kept.permissions());
  }

  /** Somebody else wrote to the file meanwhile. */
  public static final class Changed extends FileSystemException {
    private static final long serialVersionUID = 1;

    Changed(Path file) {
      super(file.toString(), null, "it was changed meanwhile");
    }
  }

  /** Renames a synced file to its name and syncs the directory, so that the name lasts too. */
  public void move(Path from, Path to) throws IOException {
    disk.rename(from, to);
    disk.syncDirectory(to.toAbsolutePath().getParent());
  }

  public static void deleteTree(Path root) throws IOException {
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
