package dev.writ.cli.command.key;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.error.CliError;
import dev.writ.embed.home.Home;
import dev.writ.embed.signer.ServiceKeys;
import dev.writ.embed.signer.SshAgent;
import dev.writ.embed.signer.TokenKeys;
import java.util.Optional;

/** The option by which a key that is kept elsewhere is taken in place of one that is made. */
final class OutsideKey {
  static final String OPTION =
      "Take this key of the ssh agent, of a PKCS#11 token or of a KMS instead of making one:"
          + " agent:FINGERPRINT, agent:COMMENT, pkcs11:object=LABEL, awskms:ARN.";

  private OutsideKey() {}

  /**
   * @throws WritException {@code CLI-001} for another key, {@code SGN-0xx} where the agent, token
   *     or service does not have it
   */
  static Optional<SigningKey> of(Home home, Arguments arguments) {
    Optional<String> named = arguments.option("--key");
    named
        .filter(key ->
            !key.startsWith(SshAgent.PREFIX)
                && !key.startsWith(TokenKeys.PREFIX)
                && !ServiceKeys.isNamed(key))
        .ifPresent(key -> {
          throw new WritException(
              CliError.USAGE,
              "--key "
                  + key
                  + " does not begin with "
                  + SshAgent.PREFIX
                  + ", "
                  + TokenKeys.PREFIX
                  + " or awskms:");
        });
    return named.map(home::key);
  }
}
