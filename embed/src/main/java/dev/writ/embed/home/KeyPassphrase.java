package dev.writ.embed.home;

import java.nio.file.Path;

/** Where the passphrase of an encrypted key file comes from. */
@FunctionalInterface
public interface KeyPassphrase {
  /**
   * @param file the encrypted file
   * @return the caller's to keep; null where there is none
   */
  char[] of(Path file);
}
