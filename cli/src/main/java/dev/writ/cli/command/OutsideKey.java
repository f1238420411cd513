package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.Home;
import dev.writ.embed.signer.SshAgent;
import dev.writ.embed.signer.TokenKeys;
import java.util.Optional;

/** The option by which a key of an agent or a token is taken in place of one that is made. */
final class OutsideKey {
  static final String OPTION =
      "Take this key of the ssh agent or of a PKCS#11 token instead of making one:"
          + " agent:FINGERPRINT, agent:COMMENT, pkcs11:object=LABEL.";

  private OutsideKey() {}

  /**
   * @throws WritException {@code CLI-001} for another key, {@code SGN-0xx} where the agent or token
   *     does not have it
   */
  static Optional<SigningKey> of(Home home, Arguments arguments) {
    Optional<String> named = arguments.option("--key");
    named
        .filter(key -> !key.startsWith(SshAgent.PREFIX) && !key.startsWith(TokenKeys.PREFIX))
        .ifPresent(key -> {
          throw new WritException(
              CliError.USAGE,
              "--key "
                  + key
                  + " does not begin with "
                  + SshAgent.PREFIX
                  + " or "
                  + TokenKeys.PREFIX);
        });
    return named.map(home::key);
  }
}
