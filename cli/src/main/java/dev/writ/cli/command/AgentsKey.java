package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.Home;
import dev.writ.embed.signer.SshAgent;
import java.util.Optional;

/** The option by which a key of an agent is taken in place of one that is made. */
final class AgentsKey {
  static final String OPTION =
      "Take this key of the ssh agent instead of making one: agent:FINGERPRINT or agent:COMMENT.";

  private AgentsKey() {}

  /**
   * @throws WritException {@code CLI-001} for another key, {@code SGN-00x} where the agent does not
   *     have it
   */
  static Optional<SigningKey> of(Home home, Arguments arguments) {
    Optional<String> named = arguments.option("--key");
    if (named.filter(key -> !key.startsWith(SshAgent.PREFIX)).isPresent()) {
      throw new WritException(
          CliError.USAGE, "--key " + named.get() + " does not begin with " + SshAgent.PREFIX);
    }
    return named.map(home::key);
  }
}
