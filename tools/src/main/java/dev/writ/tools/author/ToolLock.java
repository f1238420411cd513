package dev.writ.tools.author;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.yaml.PlainYaml;
import dev.writ.guardian.yaml.Section;
import dev.writ.tools.error.ToolsError;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The file {@code tool.lock}: the third-party code in a package. Dependencies are vendored below
 * {@code vendor/}; nothing is fetched when a tool runs.
 */
public record ToolLock(List<Dependency> dependencies) {
  /** The name of the file. */
  public static final String FILE = "tool.lock";

  /** The folder of dependencies in a package. */
  public static final String VENDOR = "vendor/";

  private static final long FORMAT = 1;

  /**
   * A third-party library.
   *
   * @param origin where it came from, for people: {@code pypi}, {@code npm}, a URL
   * @param files digests of all its files, by their paths in the package
   */
  public record Dependency(
      String name, String version, String origin, SortedMap<String, Digest> files) {

    /** The digest by which a policy approves it: of the canonical form of {@code files}. */
    public Digest digest() {
      var listed = JsonValue.object();
      files.forEach(listed::put);
      return Jcs.digest(listed.build());
    }
  }

  public ToolLock {
    dependencies = List.copyOf(dependencies);
  }

  /**
   * @throws WritException {@code TOL-201}, {@code TOL-202}
   */
  public static ToolLock parse(byte[] bytes) {
    try {
      Section file = Section.of(FILE, PlainYaml.read(bytes, FILE));
      long format = file.count("format");
      if (format != FORMAT) {
        throw new WritException(
            ToolsError.SOURCE_FORMAT, FILE + " has format " + format + ", this release reads 1");
      }
      ToolLock lock =
          new ToolLock(file.list("dependencies", item -> dependency(item.itemSection())));
      file.end();
      return lock;
    } catch (WritException e) {
      if (e.code() instanceof ToolsError) {
        throw e;
      }
      throw new WritException(
          ToolsError.SOURCE_INVALID, e.found() + " (" + e.code().meaning() + ")", e);
    }
  }

  private static Dependency dependency(Section section) {
    Section files = section.section("files");
    TreeMap<String, Digest> digests = new TreeMap<>();
    for (String path : files.keys()) {
      files.require(path, path.startsWith(VENDOR), "\"" + path + "\" is not below " + VENDOR);
      digests.put(path, files.digest(path));
    }
    files.end();
    section.require("files", !digests.isEmpty(), "a dependency has at least one file");
    Dependency dependency =
        new Dependency(
            section.name("name"), section.name("version"), section.name("origin"), digests);
    section.end();
    return dependency;
  }

  /** The file, in one form: texts are quoted as JSON is, which YAML reads as well. */
  public byte[] toBytes() {
    StringBuilder out =
        new StringBuilder(
            "# Whose code the package carries below vendor/, with the digest of each file.\n"
                + "# Written by `writ tool lock`.\nformat: 1\n");
    out.append(dependencies.isEmpty() ? "dependencies: []\n" : "dependencies:\n");
    for (Dependency dependency : dependencies) {
      out.append("  - name: ").append(quoted(dependency.name())).append('\n');
      out.append("    version: ").append(quoted(dependency.version())).append('\n');
      out.append("    origin: ").append(quoted(dependency.origin())).append('\n');
      out.append("    files:\n");
      dependency
          .files()
          .forEach((path, digest) ->
              out.append("      ")
                  .append(quoted(path))
                  .append(": ")
                  .append(quoted(digest.toString()))
                  .append('\n'));
    }
    return out.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String quoted(String text) {
    return new String(Jcs.write(JsonValue.of(text)), StandardCharsets.UTF_8);
  }

  /** Whether a text is valid in a lock as a name or a version. */
  static boolean isName(String text) {
    return !text.isEmpty()
        && text.length() <= 256
        && text.chars().noneMatch(c -> c < 0x20 || c == 0x7f);
  }

  /** The differences between this lock and the files of a package. */
  List<LintFinding> check(SortedMap<String, byte[]> package_) {
    List<LintFinding> findings = new ArrayList<>();
    TreeMap<String, Digest> locked = new TreeMap<>();
    for (Dependency dependency : dependencies) {
      dependency
          .files()
          .forEach((path, digest) -> {
            if (locked.put(path, digest) != null) {
              findings.add(
                  new LintFinding(ToolsError.LOCK_INCOMPLETE, path, "two dependencies list it"));
            }
          });
    }
    locked.forEach((path, digest) -> {
      byte[] bytes = package_.get(path);
      if (bytes == null) {
        findings.add(new LintFinding(ToolsError.LOCK_INCOMPLETE, path, "is locked, and not there"));
      } else if (!Digest.sha256(bytes).equals(digest)) {
        findings.add(
            new LintFinding(
                ToolsError.LOCK_DIGEST,
                path,
                "is " + Digest.sha256(bytes) + ", the lock says " + digest));
      }
    });
    package_.keySet().stream()
        .filter(path -> path.startsWith(VENDOR) && !locked.containsKey(path))
        .forEach(path ->
            findings.add(new LintFinding(ToolsError.LOCK_INCOMPLETE, path, "is in no dependency")));
    return findings;
  }
}
