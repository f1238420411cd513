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
 * Makes {@code tool.lock} from what lies below {@code vendor/}: {@code writ tool lock}. The same
 * files give the same lock.
 */
public final class LockWriter {
  private LockWriter() {}

  /**
   * A library that says nothing of itself, as its author names it.
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
   * @param files of the package; what is not below {@code vendor/} does not count
   * @param named what metadata does not say, or says wrongly; it goes first
   * @param before the lock that is there, for files of which nothing else says whose they are
   * @throws WritException {@code TOL-215} for a file of which nothing says it
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

  /** Each file goes to the first library that has it. */
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
