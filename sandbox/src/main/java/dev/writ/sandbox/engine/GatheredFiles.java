package dev.writ.sandbox.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Mounts;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Directories that stand in sandboxes for directories of the host of which only some files are to
 * be there: one mount instead of one for each file. A runtime needs a hundred libraries, and
 * bubblewrap reads the table of all mounts after each, so that its start takes the square of their
 * number.
 *
 * <p>The files are copies, for a link to a library of the host would be changed with our directory.
 * What they were copied from is looked at each time; when it is no longer the same file of the same
 * size and time, it is copied again.
 */
final class GatheredFiles {
  /** Fewer are not worth it. */
  static final int FILES_MIN = 8;

  /** For the files of one directory. */
  private static final long BYTES_MAX = 256L << 20;

  private static final int SET_ID = 06000;

  private final Path root;

  /** By what was copied. */
  private final TreeMap<String, Path> made = new TreeMap<>();

  /**
   * @param root the directory for them; only this user may write below it
   */
  GatheredFiles(Path root) {
    this.root = root;
  }

  /** Removes all; only at a start, when no sandbox uses one. */
  synchronized void clear() {
    try {
      Trees.clear(root);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot clear " + root, e);
    }
  }

  /**
   * The same view with fewer mounts.
   *
   * @param others places of the sandbox at which further things will be mounted
   */
  synchronized List<Mounted> in(List<Mounted> mounts, List<String> others) {
    TreeMap<String, List<Mounted.ReadOnly>> byParent = new TreeMap<>();
    TreeSet<String> places = new TreeSet<>(others);
    for (Mounted mounted : mounts) {
      if (mounted instanceof Mounted.ReadOnly file && Files.isRegularFile(file.source())) {
        String parent = Path.of(file.target()).getParent().toString();
        byParent.computeIfAbsent(parent, _ -> new ArrayList<>()).add(file);
      } else {
        places.add(mounted.target());
      }
    }
    List<Mounted> all = new ArrayList<>(mounts);
    byParent.forEach((parent, files) -> {
      if (files.size() >= FILES_MIN && isAlone(parent, places, byParent)) {
        directory(files)
            .ifPresent(directory -> {
              all.removeAll(files);
              all.add(new Mounted.ReadOnly(directory, parent));
            });
      }
    });
    return List.copyOf(all);
  }

  /** Nothing is mounted in it, for it has no places for that, nor is it in a mount. */
  private static boolean isAlone(
      String parent, TreeSet<String> places, SortedMap<String, List<Mounted.ReadOnly>> byParent) {
    return places.stream()
            .noneMatch(
                place -> (place + "/").startsWith(parent + "/") || parent.startsWith(place + "/"))
        && byParent.keySet().stream().noneMatch(other -> other.startsWith(parent + "/"));
  }

  private Optional<Path> directory(List<Mounted.ReadOnly> files) {
    try {
      Optional<String> identity = identity(files);
      if (identity.isEmpty()) {
        return Optional.empty();
      }
      Path known = made.get(identity.get());
      if (known != null) {
        return Optional.of(known);
      }
      if (Mounts.noexec().test(root)) {
        return Optional.empty(); // libraries could not be loaded from there
      }
      String name = Digest.sha256(identity.get().getBytes(StandardCharsets.UTF_8)).hex();
      Path place = root.resolve(name.substring(0, 32));
      if (!copied(files, identity.get(), place)) {
        return Optional.empty();
      }
      made.put(identity.get(), place);
      return Optional.of(place);
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "cannot gather what an executable needs", e);
    }
  }

  /** What was found of each file; empty where they are too large, or one has rights of its own. */
  private static Optional<String> identity(List<Mounted.ReadOnly> files) throws IOException {
    StringBuilder text = new StringBuilder();
    long bytes = 0;
    for (Mounted.ReadOnly file : files) {
      Map<String, Object> found =
          Files.readAttributes(file.source(), "unix:dev,ino,mode,uid,size,lastModifiedTime");
      if (((int) found.get("mode") & SET_ID) != 0) {
        return Optional.empty();
      }
      bytes += (long) found.get("size");
      text.append(file.target()).append(' ').append(new TreeMap<>(found)).append('\n');
    }
    return bytes > BYTES_MAX ? Optional.empty() : Optional.of(text.toString());
  }

  /** Whether these files, and not others that took their places meanwhile, were copied. */
  private static boolean copied(List<Mounted.ReadOnly> files, String identity, Path place)
      throws IOException {
    Path half = place.resolveSibling("new");
    Trees.remove(half);
    Files.createDirectory(half);
    for (Mounted.ReadOnly file : files) {
      Files.copy(
          file.source(),
          half.resolve(Path.of(file.target()).getFileName()),
          StandardCopyOption.COPY_ATTRIBUTES);
    }
    Files.setPosixFilePermissions(half, PosixFilePermissions.fromString("rwxr-xr-x"));
    if (!identity(files).equals(Optional.of(identity))) {
      Trees.remove(half);
      return false;
    }
    Trees.remove(place);
    Files.move(half, place, StandardCopyOption.ATOMIC_MOVE);
    return true;
  }
}
