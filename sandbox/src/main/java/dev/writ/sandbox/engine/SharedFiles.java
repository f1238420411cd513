package dev.writ.sandbox.engine;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.workspace.TreeLimits;
import dev.writ.sandbox.workspace.Workspace;
import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/**
 * Our files for read-only binds, such as the program of a tool. A set of files is written once, to
 * a directory named by the digest of the whole set.
 */
final class SharedFiles {
  private static final long KEEP_OWNER = -1;

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
    return made.computeIfAbsent(name, n -> make(root.resolve(n), half -> write(half, files)));
  }

  /**
   * The directory with these files and the content of an archive among them, which is not there
   * itself.
   *
   * @throws WritException {@code SBX-007}, {@code SBX-046}, {@code SBX-047}
   */
  synchronized Path unpacked(SortedMap<String, byte[]> files, String archive, TreeLimits limits) {
    String name = digest(files).hex() + ".unpacked";
    return made.computeIfAbsent(
        name,
        n ->
            make(
                root.resolve(n),
                half -> {
                  unpack(half, files.get(archive), limits);
                  TreeMap<String, byte[]> others = new TreeMap<>(files);
                  others.remove(archive);
                  write(half, others);
                }));
  }

  private static void unpack(Path half, byte[] archive, TreeLimits limits) throws IOException {
    try (InputStream in = new GZIPInputStream(new ByteArrayInputStream(archive))) {
      new Workspace(half, KEEP_OWNER).importTar(in, limits);
    } catch (ZipException | EOFException e) {
      throw new WritException(SandboxError.ARCHIVE, "it is not compressed by gzip", e);
    }
  }

  /** Fills a directory. */
  private interface Filling {
    void into(Path half) throws IOException;
  }

  private static Digest digest(SortedMap<String, byte[]> files) {
    ObjectBuilder json = JsonValue.object();
    files.forEach((name, bytes) -> json.put(name, Digest.sha256(bytes)));
    return Jcs.digest(json.build());
  }

  /**
   * Written completely or not at all: a set left incomplete by a killed process has another name.
   */
  private static Path make(Path place, Filling filling) {
    if (Files.isDirectory(place)) {
      return place;
    }
    Path half = place.resolveSibling(place.getFileName() + ".new");
    try {
      Trees.remove(half);
      directory(half);
      filling.into(half);
      Files.move(half, place, StandardCopyOption.ATOMIC_MOVE);
      return place;
    } catch (IOException e) {
      throw new WritException(SandboxError.HOST, "files for sandboxes cannot be written", e);
    }
  }

  private static void write(Path half, SortedMap<String, byte[]> files) throws IOException {
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
