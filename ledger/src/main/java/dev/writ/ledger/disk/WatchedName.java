package dev.writ.ledger.disk;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.CLibrary;
import dev.writ.ledger.error.Failures;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.Optional;

/**
 * A name that has to lead to the same inode as at first. Each commit looks at four of them twice,
 * so one that is looked at often asks statx(2) itself, which takes a quarter of the JDK's way. Not
 * thread safe.
 */
public final class WatchedName {
  /** Before that, linking the function would take longer than it saves. */
  public static final int LOOKS_BEFORE_LINKING = 128;

  private final Path path;
  private final Object inode;
  private int looks;
  private Statx statx;

  private WatchedName(Path path, Object inode) {
    this.path = path;
    this.inode = inode;
  }

  /**
   * @throws WritException {@code LED-071} where nothing is there
   */
  public static WatchedName of(Path path) {
    try {
      return new WatchedName(path, at(path).orElseThrow(() -> lost(path, "is not there")));
    } catch (IOException e) {
      throw Failures.of("looking at " + path, e);
    }
  }

  /**
   * @throws WritException {@code LED-071} where it leads to something else now
   */
  public void requireSame() {
    if (inode instanceof Inode known && isSameByStatx(known)) {
      return;
    }
    try {
      Object now = at(path).orElseThrow(() -> lost(path, "is not there any more"));
      if (!now.equals(inode)) {
        throw lost(path, "is inode " + now + ", was " + inode);
      }
    } catch (IOException e) {
      throw Failures.of("looking at " + path, e);
    }
  }

  private boolean isSameByStatx(Inode known) {
    if (statx == null && ++looks == LOOKS_BEFORE_LINKING && CLibrary.has("statx")) {
      statx = new Statx(path);
    }
    return statx != null && statx.leadsTo(known);
  }

  /**
   * What a path leads to: an {@link Inode}, or of a file system that is none of the host's its own
   * key.
   */
  private static Optional<Object> at(Path path) throws IOException {
    if (path.getFileSystem() == FileSystems.getDefault()) {
      return Inode.of(path).map(found -> found);
    }
    try {
      return Optional.of(Files.readAttributes(path, BasicFileAttributes.class).fileKey());
    } catch (NoSuchFileException e) {
      return Optional.empty();
    }
  }

  private static WritException lost(Path path, String what) {
    return new WritException(LedgerError.LOCK_LOST, path + " " + what);
  }

  /** statx(2) of one path, whose structure is the same on every architecture. */
  public static final class Statx {
    private static final MethodHandle STATX =
        CLibrary.function(
            "statx",
            ValueLayout.JAVA_INT,
            ValueLayout.ADDRESS,
            ValueLayout.JAVA_INT,
            ValueLayout.JAVA_INT,
            ValueLayout.ADDRESS);

    private static final int CURRENT_DIRECTORY = -100;
    private static final int THE_INODE = 0x100;
    private static final long SIZE = 256;
    private static final long MASK_AT = 0;
    private static final long INODE_AT = 32;
    private static final long DEVICE_MAJOR_AT = 136;
    private static final long DEVICE_MINOR_AT = 140;

    private final MemorySegment errno;
    private final MemorySegment path;
    private final MemorySegment found;

    public Statx(Path path) {
      Arena arena = Arena.ofAuto();
      this.errno = CLibrary.capture(arena);
      this.path = arena.allocateFrom(path.toString(), StandardCharsets.UTF_8);
      this.found = arena.allocate(SIZE, Long.BYTES);
    }

    /** False also where it cannot be told. */
    public boolean leadsTo(Inode inode) {
      try {
        return (int) STATX.invokeExact(errno, CURRENT_DIRECTORY, path, 0, THE_INODE, found) == 0
            && (found.get(ValueLayout.JAVA_INT, MASK_AT) & THE_INODE) != 0
            && found.get(ValueLayout.JAVA_LONG, INODE_AT) == inode.number()
            && device() == inode.device();
      } catch (Throwable e) {
        throw new IllegalStateException("statx(2) cannot be called", e);
      }
    }

    /** As makedev(3) puts it together. */
    private long device() {
      long major = found.get(ValueLayout.JAVA_INT, DEVICE_MAJOR_AT);
      long minor = found.get(ValueLayout.JAVA_INT, DEVICE_MINOR_AT);
      return (major & 0xfffff000L) << 32
          | (major & 0xfffL) << 8
          | (minor & 0xffffff00L) << 12
          | minor & 0xffL;
    }
  }
}
