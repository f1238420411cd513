package dev.writ.cli.command.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;
import dev.writ.tools.mcp.Passes;
import dev.writ.tools.mcp.ServerSpec;
import dev.writ.tools.mcp.ServerState;
import dev.writ.tools.mcp.remote.HeaderValue;
import dev.writ.tools.mcp.remote.RemoteSpec;
import dev.writ.tools.registry.PackageDirectory;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;

/** The options of {@code writ mcp add} that say how a server is started or reached. */
final class ServerOptions {
  private ServerOptions() {}

  /** The usage with these options. */
  static CommandUsage options(CommandUsage usage) {
    return usage
        .options("--env", "NAME=VALUE", "A variable that it gets.")
        .options("--env-secret", "NAME=SECRET", "A variable that holds a secret of `writ secret`.")
        .options("--host", "HOST:PORT", "A place that it may connect to.")
        .options("--read", "PATH", "A file or directory that it sees at the same place, read-only.")
        .options(
            "--write",
            "FOLDER",
            "A folder that it sees at the same place and may change, and delete from.")
        .flag(
            "--state", "It has a folder of its own, /state, that it finds again at its next start.")
        .option("--state-mb", "N", "The same, of N MiB at most (default: 256; 1 to 65536).")
        .options("--file", "PATH", "A file that becomes part of the package, as /tool/NAME.")
        .options(
            "--pass",
            "WHAT",
            "What else it may do: "
                + String.join(", ", Passes.KNOWN)
                + "; several with commas (default: nothing).")
        .option(
            "--code",
            "FOLDER",
            "A folder with its code, which becomes part of the package: what the command"
                + " names below it is started from there.")
        .options("--header", "NAME=VALUE", "A header that a server elsewhere is sent.")
        .options(
            "--header-secret",
            "NAME=[WORD ]SECRET",
            "A header that holds a secret of `writ secret`, as in Authorization='Bearer"
                + " crm-token'.")
        .option("--start-s", "N", "How long it may take to start (default: 60).");
  }

  /** The files of {@code --file}, by the names that they get in the package. */
  static TreeMap<String, byte[]> files(Session session, Arguments arguments) {
    TreeMap<String, byte[]> own = new TreeMap<>();
    for (String file : arguments.options("--file")) {
      byte[] bytes = session.read(file);
      String name = Path.of(file).getFileName().toString();
      try {
        PackageDirectory.requirePath(name);
      } catch (WritException e) {
        throw new WritException(
            e.code(), e.found() + " of --file: rename it to letters, digits and . _ - only", e);
      }
      own.put(name, bytes);
    }
    return own;
  }

  /** How many bytes of state it may keep; empty where it is to have none. */
  private static OptionalLong state(Arguments arguments) {
    return arguments
        .integer("--state-mb", 1, ServerState.BYTES_MAX >> 20)
        .map(mb -> OptionalLong.of(mb << 20))
        .orElseGet(() ->
            arguments.has("--state") ? OptionalLong.of(ServerState.BYTES) : OptionalLong.empty());
  }

  /**
   * How the server is started or reached, as it was typed.
   *
   * @throws WritException {@code CLI-001} for an option of the other kind of server, {@code
   *     TOL-2xx} for a value that no server may have
   */
  static ServerSpec spec(Upstreams upstreams, Arguments arguments) {
    return upstreams.keeping(
        programOrAddress(arguments), arguments.options("--write"), state(arguments));
  }

  private static ServerSpec programOrAddress(Arguments arguments) {
    List<String> command = arguments.moreArguments("COMMAND");
    if (command.isEmpty()) {
      throw new WritException(CliError.USAGE, "name the server's program after --");
    }
    long startMs =
        arguments.integer("--start-s", 1, 600).map(s -> s * 1_000).orElse(ServerSpec.START_MS);
    Passes passes = Passes.of(arguments.options("--pass"));
    if (command.size() == 1 && command.getFirst().matches("(?i:https?)://.*")) {
      requireNone(arguments, "a program", List.of("--env", "--env-secret", "--host", "--read"));
      requireNone(arguments, "a program", List.of("--file", "--write"));
      if (state(arguments).isPresent()) {
        throw new WritException(CliError.USAGE, "--state is for a program");
      }
      return ServerSpec.elsewhere(
              new RemoteSpec(RemoteSpec.requireUrl(command.getFirst()), headers(arguments)),
              startMs)
          .passing(passes);
    }
    requireNone(arguments, "a server elsewhere", List.of("--header", "--header-secret"));
    if (McpLogin.isAskedFor(arguments)) {
      throw new WritException(CliError.USAGE, "a program here has no login");
    }
    return new ServerSpec(
            command,
            pairs("--env", arguments.options("--env")),
            pairs("--env-secret", arguments.options("--env-secret")),
            arguments.options("--host"),
            arguments.options("--read"),
            startMs)
        .passing(passes);
  }

  private static void requireNone(Arguments arguments, String what, List<String> options) {
    for (String option : options) {
      if (!arguments.options(option).isEmpty()) {
        throw new WritException(CliError.USAGE, option + " is for " + what);
      }
    }
  }

  private static TreeMap<String, HeaderValue> headers(Arguments arguments) {
    TreeMap<String, HeaderValue> headers = new TreeMap<>();
    pairs("--header", arguments.options("--header"))
        .forEach((name, value) -> put(headers, name, new HeaderValue(value, Optional.empty())));
    pairs("--header-secret", arguments.options("--header-secret"))
        .forEach((name, value) -> {
          int space = value.lastIndexOf(' ') + 1;
          put(
              headers,
              name,
              new HeaderValue(value.substring(0, space), Optional.of(value.substring(space))));
        });
    return headers;
  }

  private static void put(TreeMap<String, HeaderValue> headers, String name, HeaderValue value) {
    if (headers.put(HeaderValue.requireName(name), value) != null) {
      throw new WritException(CliError.USAGE, "the header " + name + " stands twice");
    }
  }

  /** What an option of the form {@code NAME=VALUE} gives each name. */
  private static TreeMap<String, String> pairs(String option, List<String> given) {
    TreeMap<String, String> pairs = new TreeMap<>();
    for (String pair : given) {
      int sign = pair.indexOf('=');
      if (sign < 1 || pairs.put(pair.substring(0, sign), pair.substring(sign + 1)) != null) {
        throw new WritException(CliError.USAGE, option + " takes NAME=…, each name once");
      }
    }
    return pairs;
  }
}
