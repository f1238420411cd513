package dev.writ.tools.author;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Makes {@code tool.lock} from the files below {@code vendor/}: {@code writ tool lock}. The same
 * files give the same lock.
 */
public final class LockWriter {
  private LockWriter() {}

  /**
   * A library without metadata, as the author of the tool names it.
   *
   * @param path a file or folder below {@code vendor/}
   */
  public record Named(String name, String version, String path) {
    /**
     * @param text {@code NAME@VERSION=PATH}
     * @throws WritException {@code TOL-215}
     */
    public static Named parse(String text) {
      int equals = text.lastIndexOf('=');
      int at = text.lastIndexOf('@', Math.max(equals, 0));
      String path = text.substring(equals + 1);
      boolean usable =
          equals > at + 1
              && at > 0
              && path.startsWith(ToolLock.VENDOR)
              && ToolLock.isName(text.substring(0, at))
              && ToolLock.isName(text.substring(at + 1, equals));
      if (!usable) {
        throw new WritException(
            ToolsError.LOCK_METADATA, "\"" + text + "\" is not NAME@VERSION=vendor/PATH");
      }
      return new Named(text.substring(0, at), text.substring(at + 1, equals), path);
    }

    private boolean covers(String file) {
      return file.equals(path) || file.startsWith(path.endsWith("/") ? path : path + "/");
    }
  }

  /**
   * The lock of a package.
   *
   * @param files the package's files; only those below {@code vendor/} count
   * @param named libraries whose metadata is missing or wrong; these names take precedence
   * @param before the existing lock, for files that nothing else assigns to a library
   * @throws WritException {@code TOL-215} for a file that nothing assigns to a library
   */
  public static ToolLock of(SortedMap<String, byte[]> files, List<Named> named, ToolLock before) {
    TreeMap<String, byte[]> vendor = new TreeMap<>(files);
    vendor.keySet().removeIf(path -> !path.startsWith(ToolLock.VENDOR));
    List<VendorMetadata.Library> libraries = new ArrayList<>();
    for (Named one : named) {
      TreeSet<String> paths = new TreeSet<>(vendor.keySet());
      paths.removeIf(path -> !one.covers(path));
      if (paths.isEmpty()) {
        throw new WritException(ToolsError.LOCK_METADATA, "there is no " + one.path());
      }
      libraries.add(new VendorMetadata.Library(one.name(), one.version(), "named", paths));
    }
    libraries.addAll(VendorMetadata.find(vendor));
    before
        .dependencies()
        .forEach(old ->
            libraries.add(
                new VendorMetadata.Library(
                    old.name(), old.version(), old.origin(), new TreeSet<>(old.files().keySet()))));
    return lock(vendor, libraries);
  }

  /** Each file is assigned to the first library that has it. */
  private static ToolLock lock(
      TreeMap<String, byte[]> vendor, List<VendorMetadata.Library> libraries) {
    TreeSet<String> left = new TreeSet<>(vendor.keySet());
    List<ToolLock.Dependency> dependencies = new ArrayList<>();
    for (VendorMetadata.Library library : libraries) {
      TreeMap<String, Digest> digests = new TreeMap<>();
      for (String path : library.paths()) {
        if (left.remove(path)) {
          digests.put(path, Digest.sha256(vendor.get(path)));
        }
      }
      if (!digests.isEmpty()) {
        dependencies.add(
            new ToolLock.Dependency(library.name(), library.version(), library.origin(), digests));
      }
    }
    if (!left.isEmpty()) {
      throw new WritException(
          ToolsError.LOCK_METADATA,
          left.size() == 1 ? left.first() : left.first() + " and " + (left.size() - 1) + " more");
    }
    dependencies.sort(
        Comparator.comparing(ToolLock.Dependency::name)
            .thenComparing(ToolLock.Dependency::version)
            .thenComparing(dependency -> dependency.files().firstKey()));
    return new ToolLock(dependencies);
  }
}
