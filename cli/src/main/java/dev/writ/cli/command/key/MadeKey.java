package dev.writ.cli.command.key;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.error.CliError;
import java.security.SecureRandom;
import java.util.List;

/** The option that says of which algorithm a key is made. */
final class MadeKey {
  static final String NAME = "--algorithm";
  static final String OPTION = "Ed25519 or ES256, which is P-256 (default: Ed25519).";

  private static final List<Algorithm> MADE = List.of(Algorithm.ED25519, Algorithm.ES256);

  private MadeKey() {}

  /**
   * @throws WritException {@code CLI-001} for another algorithm
   */
  static Algorithm algorithm(Arguments arguments) {
    String asked = arguments.option(NAME).orElse(Algorithm.ED25519.text());
    Arguments.oneOf(NAME, asked, MADE.stream().map(Algorithm::text).toList());
    return MADE.stream().filter(made -> made.text().equals(asked)).findFirst().orElseThrow();
  }

  /** A new key. */
  static SigningKey of(Arguments arguments, SecureRandom random) {
    return SigningKey.generate(algorithm(arguments), random);
  }

  /**
   * Requires that a key is not taken from elsewhere and made at once: what it is says its
   * algorithm.
   *
   * @throws WritException {@code CLI-001} for both options
   */
  static void requireOneOf(Arguments arguments) {
    algorithm(arguments);
    if (arguments.option("--key").isPresent() && arguments.option(NAME).isPresent()) {
      throw new WritException(
          CliError.USAGE, NAME + " is for a key that is made: leave it out with --key");
    }
  }
}
