package dev.writ.tools.mcp.npm;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.Bind;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.host.HostCommands;
import dev.writ.tools.error.ToolsError;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Pattern;

/**
 * Node and npm of this machine, and how npm is configured for its user. Nothing of the
 * configuration is used but what says where packages are, and how one gets there.
 *
 * @param node the interpreter
 * @param npm npm's program for it
 * @param binds what of these the sandbox would not see otherwise
 * @param npmrc lines of the user's configuration
 * @param variables of the environment that npm reads
 */
record NpmHost(
    Path node, Path npm, List<Bind> binds, List<String> npmrc, TreeMap<String, String> variables) {
  private static final int NPMRC_BYTES_MAX = 1 << 20;
  private static final Pattern SETTING =
      Pattern.compile(
          "\\s*(?<key>registry|@[^:\\s]+:registry|//[^=]+|strict-ssl|ca|cafile)\\s*=.*");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{([A-Za-z_][A-Za-z0-9_]*)}");

  /**
   * Looks for them.
   *
   * @param environment as the user's shell has it
   * @throws WritException {@code TOL-290}
   */
  static NpmHost find(Map<String, String> environment) {
    Path started = onPath(environment, "node").orElseThrow(() -> missing("node"));
    String place = HostCommands.firstLine(started.toString(), "-p", "process.execPath");
    if (!place.startsWith("/")) {
      throw missing("a node that says where it is");
    }
    Path node = Path.of(place);
    Path npm = npm(environment, node).orElseThrow(() -> missing("npm"));
    List<String> npmrc = npmrc(environment);
    List<Path> needed = new ArrayList<>(List.of(node, npm.getParent().getParent()));
    Path global = node.getParent().resolveSibling("etc").resolve("npmrc");
    for (Path configured : List.of(global, Path.of("/etc/npmrc"))) {
      if (Files.isRegularFile(configured)) {
        needed.add(configured);
      }
    }
    npmrc.stream()
        .filter(line -> line.strip().startsWith("cafile"))
        .map(line -> line.substring(line.indexOf('=') + 1).strip())
        .filter(file -> file.startsWith("/") && Files.isRegularFile(Path.of(file)))
        .forEach(file -> needed.add(Path.of(file)));
    TreeMap<String, String> variables = variables(environment);
    Optional.ofNullable(variables.get("NODE_EXTRA_CA_CERTS")).map(Path::of).ifPresent(needed::add);
    List<Bind> binds =
        needed.stream()
            .filter(path -> !isSeen(path.toString()))
            .map(path -> new Bind(path, path.toString()))
            .toList();
    return new NpmHost(node, npm, binds, npmrc, variables);
  }

  private static WritException missing(String what) {
    return new WritException(ToolsError.NPM_MISSING, "there is no " + what + " on PATH");
  }

  /** Whether the sandbox sees a path of this machine anyway. */
  static boolean isSeen(String path) {
    return Profile.named("default").system().stream()
        .anyMatch(seen -> path.equals(seen) || path.startsWith(seen + "/"));
  }

  private static Optional<Path> onPath(Map<String, String> environment, String program) {
    for (String folder : environment.getOrDefault("PATH", "").split(File.pathSeparator)) {
      Path found = Path.of(folder).resolve(program);
      if (folder.startsWith("/") && Files.isRegularFile(found) && Files.isExecutable(found)) {
        return Optional.of(found);
      }
    }
    return Optional.empty();
  }

  /** npm's own program, which a link on PATH leads to, or which lies beside node. */
  private static Optional<Path> npm(Map<String, String> environment, Path node) {
    List<Path> places = new ArrayList<>();
    onPath(environment, "npm").ifPresent(places::add);
    places.add(node.getParent().resolveSibling("lib/node_modules/npm/bin/npm-cli.js"));
    for (Path place : places) {
      try {
        Path real = place.toRealPath();
        if (real.endsWith("bin/npm-cli.js")) {
          return Optional.of(real);
        }
      } catch (IOException e) {
        continue; // it is not there
      }
    }
    return Optional.empty();
  }

  private static List<String> npmrc(Map<String, String> environment) {
    Path file =
        Optional.ofNullable(
                environment.getOrDefault(
                    "npm_config_userconfig", environment.get("NPM_CONFIG_USERCONFIG")))
            .map(Path::of)
            .orElseGet(() -> Path.of(environment.getOrDefault("HOME", "/"), ".npmrc"));
    if (!Files.isRegularFile(file)) {
      return List.of();
    }
    try (var in = Files.newInputStream(file)) {
      return new String(in.readNBytes(NPMRC_BYTES_MAX), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> SETTING.matcher(line).matches())
          .map(line ->
              VARIABLE
                  .matcher(line)
                  .replaceAll(found ->
                      java.util.regex.Matcher.quoteReplacement(
                          environment.getOrDefault(found.group(1), ""))))
          .toList();
    } catch (IOException e) {
      throw new WritException(ToolsError.NPM_MISSING, file + " cannot be read", e);
    }
  }

  private static TreeMap<String, String> variables(Map<String, String> environment) {
    TreeMap<String, String> variables = new TreeMap<>();
    for (String name : List.of("npm_config_registry", "NPM_CONFIG_REGISTRY")) {
      Optional.ofNullable(environment.get(name)).ifPresent(value -> variables.put(name, value));
    }
    Optional.ofNullable(environment.get("NODE_EXTRA_CA_CERTS"))
        .filter(file -> file.startsWith("/") && Files.isRegularFile(Path.of(file)))
        .ifPresent(file -> variables.put("NODE_EXTRA_CA_CERTS", file));
    return variables;
  }

  /** The registries of scopes that the user's configuration names. */
  List<String> scopedRegistries() {
    return npmrc.stream()
        .filter(line -> line.strip().startsWith("@"))
        .map(line -> line.substring(line.indexOf('=') + 1).strip())
        .toList();
  }
}
