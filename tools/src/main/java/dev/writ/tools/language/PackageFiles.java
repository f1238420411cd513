package dev.writ.tools.language;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.host.Trees;
import dev.writ.tools.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Puts files where sandboxes can see them: a folder for each content, named by its digest, made
 * whole or not at all, and read-only in every sandbox.
 */
final class PackageFiles {
  private PackageFiles() {}

  /** The folder of a tool package; its bytes are verified while they are written. */
  static Path ofPackage(Path root, ToolManifest manifest, Driver.PackageContent content) {
    TreeMap<String, ToolManifest.PackageFile> files = new TreeMap<>();
    manifest.files().forEach(file -> files.put(file.path(), file));
    return place(root, manifest.packageDigest(), files, content::read);
  }

  /** The folder of the release's own workers. */
  static Path ofWorkers(Path root, SortedMap<String, byte[]> workers, Digest digest) {
    return place(root, digest, workers, bytes -> bytes);
  }

  /** One worker of this release. */
  static byte[] worker(String name) {
    try (InputStream in = PackageFiles.class.getResourceAsStream("../worker/" + name)) {
      return in.readAllBytes();
    } catch (IOException e) {
      throw new WritException(ToolsError.PACKAGE_IO, name, e);
    }
  }

  private interface Content<T> {
    byte[] read(T file);
  }

  private static <T> Path place(
      Path root, Digest digest, SortedMap<String, T> files, Content<T> content) {
    Path folder = root.resolve(digest.hex());
    if (Files.isDirectory(folder)) {
      return folder;
    }
    try {
      directory(root);
      Path fresh = Files.createTempDirectory(root, "fresh");
      try {
        for (Map.Entry<String, T> file : files.entrySet()) {
          Path at = fresh.resolve(file.getKey());
          for (Path above = at.getParent(); !above.equals(fresh); above = above.getParent()) {
            directory(above);
          }
          Files.write(at, content.read(file.getValue()));
          boolean program = file.getKey().startsWith("bin/");
          Files.setPosixFilePermissions(
              at, PosixFilePermissions.fromString(program ? "r-xr-xr-x" : "r--r--r--"));
        }
        Files.setPosixFilePermissions(fresh, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.move(fresh, folder, StandardCopyOption.ATOMIC_MOVE);
      } finally {
        if (Files.exists(fresh)) {
          Trees.remove(fresh);
        }
      }
      return folder;
    } catch (IOException e) {
      if (Files.isDirectory(folder)) {
        return folder; // another thread was first
      }
      throw new WritException(ToolsError.PACKAGE_IO, "the files of " + digest, e);
    }
  }

  private static void directory(Path path) throws IOException {
    Files.createDirectories(path);
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
