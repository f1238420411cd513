package dev.writ.embed.home;

import java.nio.file.Path;

/** Where the passphrase of an encrypted key file comes from, and the PIN of a token. */
@FunctionalInterface
public interface KeyPassphrase {
  /**
   * @param file the encrypted file
   * @return the caller's to keep; null where there is none
   */
  char[] of(Path file);

  /**
   * The PIN of a token, for which neither a file nor the environment has one.
   *
   * @param token its label
   * @return the caller's to keep; null where there is none
   */
  default char[] pin(String token) {
    return null;
  }
}
