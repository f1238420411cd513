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
   * @throws WritException {@code CLI-002} where the file cannot be read; what is wrong with it
   */
  static Optional<Trust> of(Session session, Arguments arguments) {
    return NamedFile.of(session, arguments, "--trust", Trust::parse);
  }
}
