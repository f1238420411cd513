package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.Session;
import java.util.Optional;

/** The keys that {@code --trust} pins. */
final class NamedTrust {
  private NamedTrust() {}

  /**
   * @return empty where the option is not given
   * @throws WritException {@code CLI-002} where the file cannot be read; what is wrong with it,
   *     with its name: a command has several files
   */
  static Optional<Trust> of(Session session, Arguments arguments) {
    return arguments.option("--trust").map(file -> parse(file, session.read(file)));
  }

  private static Trust parse(String file, byte[] content) {
    try {
      return Trust.parse(content);
    } catch (WritException e) {
      throw new WritException(e.code(), file + ": " + e.found(), e);
    }
  }
}
