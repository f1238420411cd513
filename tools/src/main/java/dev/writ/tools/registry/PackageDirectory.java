package dev.writ.tools.registry;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.FileTrouble;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;

/**
 * One directory that holds a package: {@code manifest.json} and the files that it lists. Reading
 * never leaves it: a path consists of plain names, and must lead to a regular file, not a link.
 */
public final class PackageDirectory {
  static final String MANIFEST = "manifest.json";

  private static final int MANIFEST_BYTES_MAX = 1 << 20;
  private static final int FILES_MAX = 1000;
  private static final int DEPTH_MAX = 8;
  private static final long FILE_BYTES_MAX = 64L << 20;
  private static final Pattern NAME = Pattern.compile("[A-Za-z0-9_][A-Za-z0-9._-]{0,127}");

  private final Path directory;

  PackageDirectory(Path directory) {
    this.directory = directory;
  }

  /**
   * Reads the manifest.
   *
   * @throws WritException {@code TOL-026}, {@code TOL-027}, {@code TOL-028}, or a code of the
   *     document's own for what is malformed in it
   */
  ToolManifest manifest() {
    return read(manifestBytes());
  }

  /**
   * The manifest as it is now; if its bytes are still those that were read before, without reading
   * into them again.
   *
   * @throws WritException as {@link #manifest()}
   */
  ReadManifest manifest(Optional<ReadManifest> before) {
    byte[] bytes = manifestBytes();
    return before
        .filter(known -> Arrays.equals(known.bytes(), bytes))
        .orElseGet(() -> new ReadManifest(bytes, read(bytes)));
  }

  /** A manifest and the bytes that it was read from. */
  record ReadManifest(byte[] bytes, ToolManifest manifest) {}

  private byte[] manifestBytes() {
    return bytes(MANIFEST, MANIFEST_BYTES_MAX);
  }

  private static ToolManifest read(byte[] manifest) {
    return ToolManifest.read(Jcs.parse(manifest));
  }

  /**
   * Reads a file and compares its digest with the manifest's.
   *
   * @throws WritException {@code TOL-023} to {@code TOL-027}
   */
  byte[] read(ToolManifest.PackageFile file) {
    byte[] bytes = bytes(file.path(), FILE_BYTES_MAX);
    Digest found = Digest.sha256(bytes);
    if (bytes.length != file.size() || !found.equals(file.digest())) {
      throw new WritException(
          ToolsError.PACKAGE_CONTENT,
          file.path()
              + " has "
              + bytes.length
              + " bytes and is "
              + found
              + ", the manifest says "
              + file.size()
              + " and "
              + file.digest());
    }
    return bytes;
  }

  /** All files but the manifest, as the package names them, with their sizes. */
  TreeMap<String, Long> list() {
    TreeMap<String, Long> files = new TreeMap<>();
    try {
      list(directory, "", files, 0);
    } catch (IOException e) {
      throw io(directory, e);
    }
    if (files.remove(MANIFEST) == null) {
      throw new WritException(ToolsError.MANIFEST_INVALID, "there is no " + MANIFEST);
    }
    return files;
  }

  /**
   * All files of a folder whose paths a package may have, by those paths.
   *
   * @param wanted which of them
   * @param max bytes of all of them together
   * @throws WritException {@code TOL-023}, {@code TOL-026}, {@code TOL-027}
   */
  public static SortedMap<String, byte[]> files(Path folder, Predicate<String> wanted, long max) {
    TreeMap<String, Long> sizes = new TreeMap<>();
    try {
      list(folder, "", sizes, 0);
    } catch (IOException e) {
      throw io(folder, e);
    }
    sizes.keySet().removeIf(wanted.negate());
    long total = sizes.values().stream().mapToLong(Long::longValue).sum();
    if (total > max) {
      throw new WritException(ToolsError.PACKAGE_TOO_LARGE, total + " bytes, at most " + max);
    }
    PackageDirectory directory = new PackageDirectory(folder);
    TreeMap<String, byte[]> files = new TreeMap<>();
    sizes.keySet().forEach(path -> files.put(path, directory.bytes(path, FILE_BYTES_MAX)));
    return files;
  }

  /**
   * Whether a path is one that a file of a package may have.
   *
   * @throws WritException {@code TOL-023}
   */
  public static void requirePath(String path) {
    String[] names = path.split("/", -1);
    if (names.length > DEPTH_MAX + 1) {
      throw new WritException(ToolsError.PACKAGE_PATH, path.length() + " characters, too deep");
    }
    for (String name : names) {
      requirePlain(name);
    }
  }

  private static void list(Path in, String prefix, TreeMap<String, Long> files, int depth)
      throws IOException {
    TreeSet<Path> sorted = new TreeSet<>();
    try (DirectoryStream<Path> stream = Files.newDirectoryStream(in)) {
      for (Path path : stream) {
        sorted.add(path);
        if (sorted.size() + files.size() > FILES_MAX) {
          throw new WritException(
              ToolsError.PACKAGE_TOO_LARGE, "more than " + FILES_MAX + " files");
        }
      }
    }
    for (Path path : sorted) {
      String name = path.getFileName().toString();
      requirePlain(name);
      if (Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS)) {
        files.put(prefix + name, Files.size(path));
      } else if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS) && depth < DEPTH_MAX) {
        list(path, prefix + name + "/", files, depth + 1);
      } else {
        throw new WritException(
            ToolsError.PACKAGE_PATH, prefix + name + " is neither a file nor a directory");
      }
    }
  }

  private static void requirePlain(String name) {
    if (!NAME.matcher(name).matches()) {
      String shown = name.length() > 80 ? name.substring(0, 80) + "…" : name;
      throw new WritException(ToolsError.PACKAGE_PATH, "\"" + shown + "\"");
    }
  }

  /** The bytes of a file under the directory, which must be no larger than {@code max}. */
  private byte[] bytes(String path, long max) {
    Path at = directory;
    for (String name : path.split("/", -1)) {
      requirePlain(name);
      at = at.resolve(name);
      if (Files.isSymbolicLink(at)) {
        throw new WritException(ToolsError.PACKAGE_PATH, path + " leads over a link");
      }
    }
    if (!Files.isRegularFile(at, LinkOption.NOFOLLOW_LINKS)) {
      throw new WritException(ToolsError.PACKAGE_FILES, "there is no file " + path);
    }
    try (InputStream in = Files.newInputStream(at, LinkOption.NOFOLLOW_LINKS)) {
      byte[] bytes = in.readNBytes((int) max + 1);
      if (bytes.length > max) {
        throw new WritException(
            ToolsError.PACKAGE_TOO_LARGE, path + " has more than " + max + " bytes");
      }
      return bytes;
    } catch (IOException e) {
      throw io(at, e);
    }
  }

  static WritException io(Path at, IOException e) {
    return new WritException(ToolsError.PACKAGE_IO, FileTrouble.of(at, e), e);
  }
}
