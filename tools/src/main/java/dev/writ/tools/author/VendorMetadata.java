package dev.writ.tools.author;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.SortedMap;
import java.util.TreeSet;
import java.util.jar.Attributes;
import java.util.jar.Manifest;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Metadata of libraries: {@code dist-info/METADATA} of Python, {@code package.json} of Node,
 * Maven's properties or the manifest of a jar. Nothing is guessed from names of files.
 */
final class VendorMetadata {
  private static final int ENTRY_BYTES_MAX = 256 << 10;

  private VendorMetadata() {}

  /**
   * One library.
   *
   * @param paths its files, by their paths in the package
   */
  record Library(String name, String version, String origin, TreeSet<String> paths) {}

  /**
   * The libraries, by the most exact metadata first: a list of files, then a folder, then a jar.
   *
   * @param vendor files below {@code vendor/}
   */
  static List<Library> find(SortedMap<String, byte[]> vendor) {
    List<Library> found = new ArrayList<>();
    vendor.forEach((path, bytes) -> {
      if (path.endsWith(".dist-info/METADATA")) {
        python(path, bytes, vendor).ifPresent(found::add);
      }
    });
    folders(vendor, found);
    vendor.forEach((path, bytes) -> {
      if (path.endsWith(".jar")) {
        jar(path, bytes).ifPresent(found::add);
      }
    });
    return found;
  }

  /** The files that {@code RECORD} lists, and the metadata itself. */
  private static Optional<Library> python(
      String path, byte[] metadata, SortedMap<String, byte[]> vendor) {
    String info = path.substring(0, path.lastIndexOf('/') + 1);
    String root = info.substring(0, info.lastIndexOf('/', info.length() - 2) + 1);
    TreeSet<String> paths = new TreeSet<>();
    vendor.keySet().stream().filter(name -> name.startsWith(info)).forEach(paths::add);
    text(vendor.get(info + "RECORD"))
        .lines()
        .map(line -> line.startsWith("\"") ? line.split("\"", 3)[1] : line.split(",", 2)[0])
        .map(name -> root + name.replaceFirst("^(\\.\\./)+", ""))
        .filter(vendor::containsKey)
        .forEach(paths::add);
    String head = text(metadata);
    return library(header(head, "Name"), header(head, "Version"), "pypi", paths);
  }

  private static Optional<String> header(String text, String name) {
    return text.lines()
        .takeWhile(line -> !line.isEmpty())
        .filter(line -> line.startsWith(name + ": "))
        .map(line -> line.substring(name.length() + 2).strip())
        .findFirst();
  }

  /** A file belongs to the nearest folder above it whose package.json has a name and a version. */
  private static void folders(SortedMap<String, byte[]> vendor, List<Library> found) {
    List<Library> folders = new ArrayList<>();
    List<String> roots = new ArrayList<>();
    vendor.forEach((path, bytes) -> {
      if (path.endsWith("/package.json")) {
        packageJson(bytes)
            .flatMap(json ->
                library(string(json, "name"), string(json, "version"), "npm", new TreeSet<>()))
            .ifPresent(library -> {
              folders.add(library);
              roots.add(path.substring(0, path.lastIndexOf('/') + 1));
            });
      }
    });
    for (String path : vendor.keySet()) {
      int nearest = -1;
      for (int i = 0; i < roots.size(); i++) {
        boolean nearer = nearest < 0 || roots.get(i).length() > roots.get(nearest).length();
        if (path.startsWith(roots.get(i)) && nearer) {
          nearest = i;
        }
      }
      if (nearest >= 0) {
        folders.get(nearest).paths().add(path);
      }
    }
    found.addAll(folders);
  }

  private static Optional<JsonValue.Obj> packageJson(byte[] bytes) {
    try {
      return Jcs.parse(bytes) instanceof JsonValue.Obj json ? Optional.of(json) : Optional.empty();
    } catch (WritException e) {
      return Optional.empty(); // no metadata: the author has to name it
    }
  }

  private static Optional<String> string(JsonValue.Obj json, String member) {
    return json.get(member) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  private static Optional<Library> jar(String path, byte[] bytes) {
    List<Properties> maven = new ArrayList<>();
    Attributes manifest = new Attributes();
    try (ZipInputStream zip = new ZipInputStream(new ByteArrayInputStream(bytes))) {
      for (ZipEntry entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        if (entry.getName().matches("META-INF/maven/[^/]+/[^/]+/pom\\.properties")) {
          Properties properties = new Properties();
          properties.load(new StringReader(text(zip.readNBytes(ENTRY_BYTES_MAX))));
          maven.add(properties);
        } else if (entry.getName().equals("META-INF/MANIFEST.MF")) {
          byte[] text = zip.readNBytes(ENTRY_BYTES_MAX);
          manifest.putAll(new Manifest(new ByteArrayInputStream(text)).getMainAttributes());
        }
      }
    } catch (IOException | IllegalArgumentException e) {
      return Optional.empty();
    }
    TreeSet<String> paths = new TreeSet<>(List.of(path));
    if (maven.size() == 1) { // several of them mean several libraries in one jar
      Optional<String> name = property(maven.getFirst(), "artifactId");
      Optional<String> group = property(maven.getFirst(), "groupId");
      return library(
          name.flatMap(n -> group.map(g -> g + ":" + n)),
          property(maven.getFirst(), "version"),
          "maven",
          paths);
    }
    return library(
        first(manifest, "Bundle-SymbolicName", "Automatic-Module-Name", "Implementation-Title"),
        first(manifest, "Bundle-Version", "Implementation-Version"),
        "jar",
        paths);
  }

  private static Optional<String> property(Properties properties, String name) {
    return Optional.ofNullable(properties.getProperty(name)).map(String::strip);
  }

  private static Optional<String> first(Attributes attributes, String... names) {
    for (String name : names) {
      String value = attributes.getValue(name);
      if (value != null) {
        return Optional.of(value.split(";", 2)[0].strip()); // directives follow a semicolon
      }
    }
    return Optional.empty();
  }

  private static Optional<Library> library(
      Optional<String> name, Optional<String> version, String origin, TreeSet<String> paths) {
    return name.filter(ToolLock::isName)
        .flatMap(n -> version.filter(ToolLock::isName).map(v -> new Library(n, v, origin, paths)));
  }

  private static String text(byte[] bytes) {
    return bytes == null ? "" : new String(bytes, StandardCharsets.UTF_8);
  }
}
