package dev.writ.tools.mcp.npm;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.NpmOrigin;
import dev.writ.tools.mcp.ServerSpec;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;

/** What npm installed, as it and the packages themselves say. Nothing in it is believed further. */
final class InstalledTree {
  private static final String MODULES = "node_modules/";
  private static final int JSON_BYTES_MAX = 16 << 20;
  private static final int FIRST_LINE_MAX = 200;

  private final Workspace workspace;
  private final String folder;
  private final String name;
  private final JsonValue.Obj installed;

  private InstalledTree(Workspace workspace, String folder, String name, JsonValue.Obj installed) {
    this.workspace = workspace;
    this.folder = folder;
    this.name = name;
    this.installed = installed;
  }

  /**
   * Reads npm's own list of a tree.
   *
   * @throws WritException {@code TOL-294}
   */
  static InstalledTree read(Workspace workspace, String folder, String name) {
    JsonValue.Obj lock = object(workspace, folder + "/" + MODULES + ".package-lock.json");
    if (lock.get("packages") instanceof JsonValue.Obj installed
        && installed.get(MODULES + name) instanceof JsonValue.Obj) {
      return new InstalledTree(workspace, folder, name, installed);
    }
    throw new WritException(ToolsError.NPM_FAILED, "npm does not say that it installed " + name);
  }

  private static JsonValue.Obj object(Workspace workspace, String path) {
    try {
      if (Jcs.parse(workspace.read(path, JSON_BYTES_MAX)) instanceof JsonValue.Obj object) {
        return object;
      }
      throw new WritException(ToolsError.NPM_FAILED, path + " is no object");
    } catch (WritException e) {
      throw e.code() instanceof ToolsError
          ? e
          : new WritException(
              ToolsError.NPM_FAILED, path + ": " + e.code().code() + " " + e.found(), e);
    }
  }

  /**
   * Where it came from.
   *
   * @throws WritException {@code TOL-293} where npm has no digest of it
   */
  NpmOrigin origin(List<String> asked) {
    TreeMap<String, String> packages = new TreeMap<>();
    TreeSet<String> unrun = new TreeSet<>();
    installed
        .members()
        .forEach((path, value) -> {
          if (value instanceof JsonValue.Obj one && path.startsWith(MODULES)) {
            text(one, "version").ifPresent(v -> packages.put(path.substring(MODULES.length()), v));
            if (JsonValue.TRUE.equals(one.get("hasInstallScript"))) {
              unrun.add(path.substring(path.lastIndexOf(MODULES) + MODULES.length()));
            }
          }
        });
    JsonValue.Obj own = (JsonValue.Obj) installed.get(MODULES + name);
    return new NpmOrigin(
        asked,
        name,
        text(own, "version").orElse("0"),
        text(own, "integrity")
            .orElseThrow(
                () -> new WritException(ToolsError.NPM_INTEGRITY, "npm has no digest of " + name)),
        packages,
        List.copyOf(unrun));
  }

  private static Optional<String> text(JsonValue.Obj object, String member) {
    return object.get(member) instanceof JsonValue.Str text && !text.value().isEmpty()
        ? Optional.of(text.value())
        : Optional.empty();
  }

  /**
   * The words behind node that start one of its programs.
   *
   * @throws WritException {@code TOL-297}
   */
  List<String> program(Optional<String> wanted) {
    String path = MODULES + name + "/" + file(wanted);
    String first = firstLine(folder + "/" + path);
    List<String> words = new ArrayList<>();
    if (first.startsWith("#!")) {
      List<String> shebang = List.of(first.substring(2).strip().split("\\s+"));
      int node = 0;
      while (node < shebang.size() && !shebang.get(node).matches("(.*/)?node")) {
        node++;
      }
      if (node == shebang.size()) {
        throw unusable(path + " is no program of node");
      }
      words.addAll(shebang.subList(node + 1, shebang.size()));
    }
    words.add(ServerSpec.PLACE + "/" + path);
    return words;
  }

  private String firstLine(String path) {
    byte[] bytes;
    try {
      bytes = workspace.read(path, JSON_BYTES_MAX);
    } catch (WritException e) {
      throw unusable(path + " is not there", e);
    }
    return new String(bytes, 0, Math.min(bytes.length, FIRST_LINE_MAX), StandardCharsets.ISO_8859_1)
        .lines()
        .findFirst()
        .orElse("");
  }

  /** The file of a program, relative to the package. */
  private String file(Optional<String> wanted) {
    Map<String, String> programs = programs();
    String own = name.substring(name.indexOf('/') + 1);
    String chosen =
        wanted.orElseGet(() -> programs.size() == 1 ? programs.keySet().iterator().next() : own);
    String file = programs.get(chosen);
    if (file == null) {
      throw unusable("its programs are " + programs.keySet());
    }
    if (file.indexOf('\0') >= 0 || List.of(file.split("/")).contains("..")) {
      throw unusable("its program " + chosen + " leads out of the package");
    }
    return Path.of("/", file).normalize().toString().substring(1);
  }

  private TreeMap<String, String> programs() {
    JsonValue.Obj description = object(workspace, folder + "/" + MODULES + name + "/package.json");
    TreeMap<String, String> programs = new TreeMap<>();
    if (description.get("bin") instanceof JsonValue.Str one) {
      programs.put(name.substring(name.indexOf('/') + 1), one.value());
    } else if (description.get("bin") instanceof JsonValue.Obj several) {
      several
          .members()
          .forEach((program, file) -> {
            if (file instanceof JsonValue.Str text) {
              programs.put(program, text.value());
            }
          });
    }
    return programs;
  }

  private WritException unusable(String found) {
    return new WritException(ToolsError.NPM_PROGRAM, name + ": " + found);
  }

  private WritException unusable(String found, WritException cause) {
    return new WritException(ToolsError.NPM_PROGRAM, name + ": " + found, cause);
  }
}
