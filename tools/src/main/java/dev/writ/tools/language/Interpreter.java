package dev.writ.tools.language;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.host.HostCommands;
import dev.writ.tools.error.ToolsError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The runtime of a language on this host. Its version is queried once, and again only if the file
 * has changed, so that an update of the host needs no restart.
 */
public final class Interpreter {
  private static final Pattern VERSION = Pattern.compile("[0-9]+(\\.[0-9]+)*+[A-Za-z0-9.+-]*");

  private final Path program;
  private final Optional<String> fixed;
  private final String[] argv;
  private String known;
  private String knownOf;

  private Interpreter(Path program, Optional<String> fixed, String... argv) {
    this.program = program;
    this.fixed = fixed;
    this.argv = argv;
  }

  /**
   * An interpreter that prints its version.
   *
   * @param arguments the arguments for that; its output begins with {@code 3.13.5}, {@code v20.1.0}
   *     or {@code Python 3.13.5}
   */
  public static Interpreter asked(String program, String... arguments) {
    String[] argv = new String[arguments.length + 1];
    argv[0] = program;
    System.arraycopy(arguments, 0, argv, 1, arguments.length);
    return new Interpreter(Path.of(program), Optional.empty(), argv);
  }

  /** One whose version is known. */
  public static Interpreter known(Path program, String version) {
    return new Interpreter(program, Optional.of(version));
  }

  public Path program() {
    return program;
  }

  /**
   * Its full version.
   *
   * @throws WritException {@code TOL-214} if it is missing, or does not print its version
   */
  public String version() {
    return fixed.orElseGet(this::ask);
  }

  private synchronized String ask() {
    String file = file();
    if (!file.equals(knownOf)) {
      String line = HostCommands.firstLine(argv);
      Matcher version = VERSION.matcher(line);
      if (!version.find()) {
        throw new WritException(
            ToolsError.RUNTIME_MISSING, program + " does not say which version it is");
      }
      known = version.group();
      knownOf = file;
    }
    return known;
  }

  /** A text that changes when another version is installed. */
  private String file() {
    try {
      Path real = program.toRealPath();
      return real + " " + Files.size(real) + " " + Files.getLastModifiedTime(real).toMillis();
    } catch (IOException e) {
      throw new WritException(ToolsError.RUNTIME_MISSING, "there is no " + program, e);
    }
  }
}
