package dev.writ.sandbox.host;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.CLibrary;
import dev.writ.sandbox.error.SandboxError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.MethodHandle;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Predicate;

/**
 * mount(2) and umount2(2) through the C library: starting a process for each would take longer than
 * the calls.
 */
public final class Mounts {
  private static final long NOSUID = 2;
  private static final long NODEV = 4;
  private static final long NOEXEC = 8;
  private static final long REMOUNT = 32;
  private static final long BIND = 4096;
  private static final int DETACH = 2;

  private static final MethodHandle MOUNT =
      CLibrary.function(
          "mount",
          ValueLayout.ADDRESS,
          ValueLayout.ADDRESS,
          ValueLayout.ADDRESS,
          ValueLayout.JAVA_LONG,
          ValueLayout.ADDRESS);
  private static final MethodHandle UNMOUNT =
      CLibrary.function("umount2", ValueLayout.ADDRESS, ValueLayout.JAVA_INT);

  private Mounts() {}

  /**
   * Mounts an empty tmpfs with nosuid, nodev and, unless {@code exec}, noexec.
   *
   * @param mode of its root, as in chmod(1): {@code 0700}
   * @param uid owner of its root
   * @throws WritException {@code SBX-007}
   */
  public static void tmpfs(Path where, long bytes, String mode, long uid, boolean exec) {
    String options =
        "size="
            + bytes
            + ",nr_inodes="
            + inodes(bytes)
            + ",mode="
            + mode
            + ",uid="
            + uid
            + ",gid="
            + uid;
    mount("writ", where, "tmpfs", NOSUID | NODEV | (exec ? 0 : NOEXEC), options);
  }

  /**
   * The most files and directories on a tmpfs: each is kernel memory, so no more than one for each
   * page.
   */
  public static long inodes(long bytes) {
    return Math.max(64, Math.min(bytes / 4096, 1_000_000));
  }

  /**
   * Mounts a separate instance for pseudo-terminals, with a limit of its own: otherwise they count
   * against the host's common limit.
   *
   * @throws WritException {@code SBX-007}
   */
  public static void terminals(Path where, int most) {
    mount(
        "writ", where, "devpts", NOSUID | NOEXEC, "newinstance,ptmxmode=0666,mode=620,max=" + most);
  }

  /**
   * Bind-mounts a directory at another place, with noexec.
   *
   * @throws WritException {@code SBX-007}
   */
  public static void bindNoexec(Path source, Path where) {
    mount(source.toString(), where, "none", BIND, "");
    mount("none", where, "none", REMOUNT | BIND | NOSUID | NODEV | NOEXEC, "");
  }

  private static void mount(String source, Path where, String type, long flags, String options) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = CLibrary.capture(arena);
      int result =
          (int)
              MOUNT.invokeExact(
                  errno,
                  text(arena, source),
                  text(arena, where.toString()),
                  text(arena, type),
                  flags,
                  text(arena, options));
      if (result != 0) {
        throw new WritException(
            SandboxError.HOST,
            "cannot mount " + type + " on " + where + ": errno " + CLibrary.errno(errno));
      }
    } catch (WritException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("mount(2) cannot be called", e);
    }
  }

  /** Unmounts a place even if it is in use; does nothing if nothing is mounted. */
  public static void unmount(Path where) {
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment errno = CLibrary.capture(arena);
      int result = (int) UNMOUNT.invokeExact(errno, text(arena, where.toString()), DETACH);
      int why = result == 0 ? 0 : CLibrary.errno(errno);
      boolean absent = why == 22 || why == 2; // EINVAL: no mount point; ENOENT
      if (result != 0 && !absent) {
        throw new WritException(SandboxError.HOST, "cannot unmount " + where + ": errno " + why);
      }
    } catch (WritException e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException("umount2(2) cannot be called", e);
    }
  }

  private static MemorySegment text(Arena arena, String value) {
    return arena.allocateFrom(value, StandardCharsets.UTF_8);
  }

  /** Tells whether paths are on a noexec file system; reads the table of mounts once. */
  public static Predicate<Path> noexec() {
    List<String[]> table = table();
    return path -> {
      Path best = Path.of("/");
      boolean noexec = false;
      for (String[] columns : table) {
        Path point = Path.of(columns[1]);
        if (path.startsWith(point) && point.getNameCount() >= best.getNameCount()) {
          best = point;
          noexec = List.of(columns[3].split(",")).contains("noexec");
        }
      }
      return noexec;
    };
  }

  /** The mount points at or below a directory, the innermost first. */
  public static List<Path> below(Path directory) {
    List<Path> found = new ArrayList<>();
    for (String[] columns : table()) {
      Path point = Path.of(columns[1]);
      if (point.startsWith(directory)) {
        found.add(point);
      }
    }
    Collections.reverse(found);
    return found;
  }

  /** Source, place, type and options of each mount whose place is plain; ours all are. */
  private static List<String[]> table() {
    try {
      List<String[]> rows = new ArrayList<>();
      for (String line :
          Files.readAllLines(Path.of("/proc/self/mounts"), StandardCharsets.ISO_8859_1)) {
        String[] columns = line.split(" ");
        boolean plain =
            columns.length > 3 && columns[1].chars().allMatch(c -> c > 0x20 && c < 0x7f);
        if (plain && columns[1].indexOf('\\') < 0) {
          rows.add(columns);
        }
      }
      return rows;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
