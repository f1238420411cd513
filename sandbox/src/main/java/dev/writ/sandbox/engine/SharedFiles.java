package dev.writ.sandbox.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Trees;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Our files for read-only binds, such as the program of a tool. A set of files is written once, to
 * a directory named by the digest of the whole set.
 */
final class SharedFiles {
  private final Path root;
  private final TreeMap<String, Path> made = new TreeMap<>();

  /**
   * @param root the directory for them; only this user may write below it
   */
  SharedFiles(Path root) {
    this.root = root;
  }

  /**
   * The directory with these files and no others.
   *
   * @param files by their names, plain and relative, parts separated by {@code /}; those below
   *     {@code bin} are programs
   * @throws WritException {@code SBX-007}
   */
  synchronized Path of(SortedMap<String, byte[]> files) {
    String name = digest(files).hex();
    return made.computeIfAbsent(name, n -> make(root.resolve(n), files));
  }

  private static Digest digest(SortedMap<String, byte[]> files) {
    ObjectBuilder json = JsonValue.object();
    files.forEach((name, bytes) -> json.put(name, Digest.sha256(bytes)));
    return Jcs.digest(json.build());
  }

  /**
   * Written completely or not at all: a set left incomplete by a killed process has another name.
   */
  private static Path make(Path place, SortedMap<String, byte[]> files) {
    if (Files.isDirectory(place)) {
      return place;
    }
    Path half = place.resolveSibling(place.getFileName() + ".new");
    try {
      Trees.remove(half);
      directory(half);
      for (var file : files.entrySet()) {
        Path path = half.resolve(file.getKey()).normalize();
        if (!path.startsWith(half) || path.equals(half)) {
          throw new IllegalArgumentException("no plain name");
        }
        directories(half, path.getParent());
        Files.write(path, file.getValue());
        boolean program = file.getKey().startsWith("bin/");
        Files.setPosixFilePermissions(
            path, PosixFilePermissions.fromString(program ? "rwxr-xr-x" : "rw-r--r--"));
      }
      Files.move(half, place, StandardCopyOption.ATOMIC_MOVE);
      return place;
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "files for sandboxes cannot be written", e);
    }
  }

  private static void directories(Path top, Path path) throws IOException {
    if (!path.equals(top) && !Files.exists(path)) {
      directories(top, path.getParent());
      directory(path);
    }
  }

  /** Users of sandboxes may read it, whatever the umask. */
  private static void directory(Path path) throws IOException {
    Files.createDirectory(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
