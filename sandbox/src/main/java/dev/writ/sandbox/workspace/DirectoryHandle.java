package dev.writ.sandbox.workspace;

import dev.writ.canonicalize.disk.CLibrary;
import dev.writ.sandbox.host.Trees;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SecureDirectoryStream;

/**
 * A directory that is held open by openat(2), and the path by which the JDK works in it: that of
 * the descriptor in /proc, which leads to this directory whatever its name is meanwhile. The JDK
 * itself can neither make a directory nor make or read a link relative to an open one.
 */
final class DirectoryHandle implements AutoCloseable {
  private static final boolean ARM = System.getProperty("os.arch").equals("aarch64");
  private static final int DIRECTORY = ARM ? 0x4000 : 0x10000;
  private static final int NO_FOLLOW = ARM ? 0x8000 : 0x20000;
  private static final int CLOSE_ON_EXEC = 0x80000;

  /** In place of a directory: the path is absolute. */
  private static final int NO_DIRECTORY = -100;

  private static final int ENOENT = 2;
  private static final int ENOTDIR = 20;

  private static final MethodHandle OPENAT =
      CLibrary.variadic(
          "openat", 3, ValueLayout.JAVA_INT, ValueLayout.ADDRESS, ValueLayout.JAVA_INT);

  private final int descriptor;
  private boolean closed;

  private DirectoryHandle(int descriptor) {
    this.descriptor = descriptor;
  }

  /** Opens a directory by its path; links are followed. */
  static DirectoryHandle of(Path directory) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write('/');
    for (Path part : directory.toAbsolutePath()) {
      bytes.writeBytes(RawNames.bytes(part));
      bytes.write('/');
    }
    return open(NO_DIRECTORY, bytes.toByteArray(), 0, directory);
  }

  /** Opens a directory in this one, by a single name that is no link. */
  DirectoryHandle in(Path name) throws IOException {
    return open(descriptor, RawNames.bytes(name), NO_FOLLOW, name);
  }

  private static DirectoryHandle open(int at, byte[] name, int flags, Path what)
      throws IOException {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = CLibrary.capture(arena);
      MemorySegment text = arena.allocate(name.length + 1L);
      MemorySegment.copy(name, 0, text, ValueLayout.JAVA_BYTE, 0, name.length);
      int opened = (int) OPENAT.invokeExact(errno, at, text, DIRECTORY | CLOSE_ON_EXEC | flags);
      if (opened < 0) {
        throw exception(CLibrary.errno(errno), what.toString());
      }
      return new DirectoryHandle(opened);
    } catch (IOException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("openat(2) cannot be called", e);
    }
  }

  private static FileSystemException exception(int error, String what) {
    return switch (error) {
      case ENOENT -> new NoSuchFileException(what);
      case ENOTDIR -> new NotDirectoryException(what);
      default -> new FileSystemException(what, null, "errno " + error);
    };
  }

  /** By which it is reached while it is open. */
  Path path() {
    return Path.of("/proc/self/fd/" + descriptor);
  }

  /** Its entries, and what the JDK can do relative to it. */
  SecureDirectoryStream<Path> stream() throws IOException {
    return Trees.secure(Files.newDirectoryStream(path()), path());
  }

  @Override
  public void close() {
    if (closed) {
      return; // the number may be another file's by now
    }
    closed = true;
    CLibrary.close(descriptor);
  }
}
