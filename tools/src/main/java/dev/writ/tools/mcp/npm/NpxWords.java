package dev.writ.tools.mcp.npm;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Pattern;

/**
 * A command that gets a program from npm and starts it.
 *
 * @param name the package's name
 * @param version a version, a range or a tag; empty for the latest
 * @param program which of its programs; absent for the one of its name
 * @param arguments what the program is given
 */
public record NpxWords(
    String name, String version, Optional<String> program, List<String> arguments) {
  private static final Pattern SPEC =
      Pattern.compile(
          "(?<name>(@[a-z0-9~-][a-z0-9._~-]*/)?[a-z0-9~][a-z0-9._~-]*)"
              + "(@(?<version>[A-Za-z0-9.^~<>=|* _+-]{1,64}))?");
  private static final int NAME_MAX = 214;

  /** Runners whose words are those of npx: what they run is a package of npm. */
  private static final List<List<String>> RUNNERS =
      List.of(
          List.of("npx"),
          List.of("npm", "exec"),
          List.of("npm", "x"),
          List.of("pnpx"),
          List.of("pnpm", "dlx"),
          List.of("yarn", "dlx"),
          List.of("bunx"),
          List.of("bun", "x"));

  /**
   * Runners that get code which is not pinned here.
   *
   * @param instead what a user can do
   */
  private record Other(String runner, String instead) {}

  private static final List<Other> OTHERS =
      List.of(
          new Other("uvx", python("PACKAGE")),
          new Other("uv", python("PACKAGE")),
          new Other("pipx", python("PACKAGE")),
          new Other("docker", "add the program of the image with its files: --code FOLDER"),
          new Other("podman", "add the program of the image with its files: --code FOLDER"),
          new Other("deno", "save its files in a folder, and add that: --code FOLDER"),
          new Other("cmd", "name the program that it starts"),
          new Other("powershell", "name the program that it starts"),
          new Other("wsl", "name the program that it starts"));

  public NpxWords {
    arguments = List.copyOf(arguments);
  }

  private static String python(String name) {
    return "run `pip install --target FOLDER "
        + name
        + "`, then `writ mcp add NAME --code FOLDER --env PYTHONPATH=/tool -- python3 -m MODULE`,"
        + " which the client starts as `writ mcp --server NAME`";
  }

  /**
   * Reads a command.
   *
   * @return nothing for a command that gets nothing from npm
   * @throws WritException {@code TOL-296} for one that gets its code in another way, or in a form
   *     of npx that cannot be pinned
   */
  public static Optional<NpxWords> of(List<String> given) {
    List<String> command = withoutShell(given);
    String program = bare(command.getFirst());
    for (List<String> runner : RUNNERS) {
      boolean is =
          command.size() > runner.size()
              && runner.getFirst().equals(program)
              && command.subList(1, runner.size()).equals(runner.subList(1, runner.size()));
      if (is) {
        return Optional.of(words(command.subList(runner.size(), command.size())));
      }
    }
    for (Other other : OTHERS) {
      if (other.runner.equals(program)) {
        throw new WritException(
            ToolsError.CODE_UNPINNED, program + " gets code anew at each start: " + other.instead);
      }
    }
    return Optional.empty();
  }

  /** The words behind {@code cmd /c}, as configurations for Windows have it. */
  private static List<String> withoutShell(List<String> command) {
    boolean shell =
        command.size() > 2
            && bare(command.getFirst()).equals("cmd")
            && command.get(1).equalsIgnoreCase("/c");
    return shell ? command.subList(2, command.size()) : command;
  }

  private static String bare(String program) {
    return program
        .replaceFirst("(?s)^.*[/\\\\]", "")
        .toLowerCase(Locale.ROOT)
        .replaceFirst("\\.(exe|cmd|bat)$", "");
  }

  private static NpxWords words(List<String> words) {
    List<String> packages = new ArrayList<>();
    int at = 0;
    for (; at < words.size() && words.get(at).startsWith("-"); at++) {
      String word = words.get(at);
      if (word.equals("--")) {
        at++;
        break;
      }
      switch (word) {
        case "-y", "--yes", "-q", "--quiet", "--silent", "--no", "--prefer-offline", "--bun" -> {
          // Nobody is asked here, and nothing is printed.
        }
        case "-p", "--package" -> {
          at++;
          if (at == words.size()) {
            throw unpinned("nothing follows " + word);
          }
          packages.add(words.get(at));
        }
        default -> {
          if (!word.startsWith("--package=")) {
            throw unpinned("the option " + word + " of npx");
          }
          packages.add(word.substring("--package=".length()));
        }
      }
    }
    List<String> rest = words.subList(at, words.size());
    if (packages.size() > 1) {
      throw unpinned("npx with several packages");
    }
    if (rest.isEmpty()) {
      throw unpinned("npx without a program");
    }
    List<String> arguments = rest.subList(1, rest.size());
    return packages.isEmpty()
        ? of(rest.getFirst(), Optional.empty(), arguments)
        : of(packages.getFirst(), Optional.of(rest.getFirst()), arguments);
  }

  private static NpxWords of(String spec, Optional<String> program, List<String> arguments) {
    var found = SPEC.matcher(spec);
    if (!found.matches() || found.group("name").length() > NAME_MAX) {
      throw unpinned("\"" + spec + "\", which is no name@version of a registry");
    }
    return new NpxWords(
        found.group("name"),
        Optional.ofNullable(found.group("version")).orElse(""),
        program,
        arguments);
  }

  private static WritException unpinned(String found) {
    return new WritException(ToolsError.CODE_UNPINNED, found);
  }

  /** As npm is asked for it. */
  String spec() {
    return version.isEmpty() ? name : name + "@" + version;
  }

  /** The scope of its name, with the sign; empty where it has none. */
  Optional<String> scope() {
    return name.startsWith("@")
        ? Optional.of(name.substring(0, name.indexOf('/')))
        : Optional.empty();
  }
}
