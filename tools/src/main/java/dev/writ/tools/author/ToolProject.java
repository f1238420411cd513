package dev.writ.tools.author;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.PackageDirectory;
import java.nio.file.Path;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The content of a tool package: its source, its lock and all its files, from an author's folder or
 * from an archive.
 *
 * @param files by their paths, {@code tool.manifest} and {@code tool.lock} among them
 */
public record ToolProject(ToolSource source, ToolLock lock, SortedMap<String, byte[]> files) {
  /** Tests stay with the author. */
  public static final String TESTS = "test/";

  /** Bytes of all files together. */
  public static final long BYTES_MAX = 64L << 20;

  public ToolProject {
    requireOneMeaning(files);
    files = Collections.unmodifiableSortedMap(new TreeMap<>(files));
  }

  /**
   * Reads an author's folder.
   *
   * @throws WritException {@code TOL-023} to {@code TOL-027}, {@code TOL-201}, {@code TOL-202}
   */
  public static ToolProject open(Path folder) {
    return of(PackageDirectory.files(folder, path -> !path.startsWith(TESTS), BYTES_MAX));
  }

  /**
   * @throws WritException {@code TOL-024} where the two files are not there, {@code TOL-201},
   *     {@code TOL-202}
   */
  public static ToolProject of(SortedMap<String, byte[]> files) {
    return new ToolProject(
        ToolSource.parse(required(files, ToolSource.FILE)),
        ToolLock.parse(required(files, ToolLock.FILE)),
        files);
  }

  /** Refuses paths that differ only in case, and a file that is also a folder. */
  private static void requireOneMeaning(SortedMap<String, byte[]> files) {
    TreeMap<String, String> known = new TreeMap<>();
    for (String path : files.keySet()) {
      for (int end = path.indexOf('/'); end >= 0; end = path.indexOf('/', end + 1)) {
        requireOneMeaning(known, path.substring(0, end + 1));
      }
      requireOneMeaning(known, path);
    }
  }

  private static void requireOneMeaning(TreeMap<String, String> known, String path) {
    String plain = path.endsWith("/") ? path.substring(0, path.length() - 1) : path;
    String before = known.putIfAbsent(plain.toLowerCase(Locale.ROOT), path);
    if (before != null && !before.equals(path)) {
      throw new WritException(
          ToolsError.PACKAGE_PATH, before + " and " + path + " are one on some systems");
    }
  }

  private static byte[] required(SortedMap<String, byte[]> files, String name) {
    byte[] bytes = files.get(name);
    if (bytes == null) {
      throw new WritException(ToolsError.PACKAGE_FILES, "there is no " + name);
    }
    return bytes;
  }

  /**
   * The kernel's manifest, which is signed, approved and named in every intent. It names each file
   * by digest, so it covers {@code tool.manifest}, too.
   */
  public ToolManifest manifest() {
    // Only a tool with the capability spawn gets a profile with other programs.
    String sandbox = source.spawn() ? "default" : source.language().sandbox();
    return new ToolManifest(
        source.tool(),
        source.version(),
        source.language().text(),
        source.determinism(),
        source.operations(),
        new ToolManifest.Capabilities(
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            List.of(),
            source.network(),
            source.secrets(),
            source.workspace()),
        source.resourceClass().ceiling(),
        List.of(sandbox),
        files.entrySet().stream()
            .map(file ->
                new ToolManifest.PackageFile(
                    file.getKey(), Digest.sha256(file.getValue()), file.getValue().length))
            .toList(),
        source.category());
  }
}
