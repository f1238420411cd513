package dev.writ.tools.registry;

import dev.writ.canonicalize.Comparing;
import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The tools of the release: packages like any other, contained in this module. */
public final class BuiltinTools {
  private static final List<String> NAMES =
      List.of(
          "code_ephemeral",
          "code_interpreter",
          "code_reproducible",
          "exec",
          "exec_ephemeral",
          "git_cli",
          "js",
          "sql",
          "web_browser",
          "word-count");

  /** What an installation has only where its owner asks for it: no first policy approves them. */
  private static final List<String> ON_REQUEST = List.of("agent-hook");

  private static final class Holder {
    static final List<ToolManifest> MANIFESTS = read(NAMES);
    static final List<ToolManifest> ALL =
        Stream.concat(read(ON_REQUEST).stream(), MANIFESTS.stream())
            .sorted(Comparing.by(ToolManifest::name))
            .toList();

    private static List<ToolManifest> read(List<String> names) {
      return names.stream()
          .map(name -> ToolManifest.read(Jcs.parse(resource(name + "/manifest.json"))))
          .toList();
    }
  }

  private BuiltinTools() {}

  /** The manifests of those that a first policy approves, in the order of their names. */
  public static List<ToolManifest> manifests() {
    return Holder.MANIFESTS;
  }

  /** The manifests of all, in the order of their names. */
  public static List<ToolManifest> all() {
    return Holder.ALL;
  }

  /** The manifest of a name and version. */
  public static Optional<ToolManifest> manifest(String name, String version) {
    return all().stream()
        .filter(m -> m.name().equals(name) && m.version().equals(version))
        .findFirst();
  }

  /**
   * The content of their packages, verified when it is read.
   *
   * @throws WritException {@code TOL-025} when the content is not what the manifest says
   */
  public static Driver.PackageContent content(ToolManifest manifest) {
    return file -> {
      byte[] bytes = resource(manifest.name() + "/" + file.path());
      Digest found = Digest.sha256(bytes);
      if (bytes.length != file.size() || !found.equals(file.digest())) {
        throw new WritException(
            ToolsError.PACKAGE_CONTENT,
            manifest.name()
                + "/"
                + file.path()
                + " is "
                + found
                + ", the manifest says "
                + file.digest());
      }
      return bytes;
    };
  }

  private static byte[] resource(String path) {
    try (InputStream in = BuiltinTools.class.getResourceAsStream("builtin/" + path)) {
      if (in == null) {
        throw new WritException(ToolsError.PACKAGE_FILES, "the release has no " + path);
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
