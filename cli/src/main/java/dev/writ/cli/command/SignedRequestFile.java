package dev.writ.cli.command;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.base.Session;
import dev.writ.cli.error.CliError;

/** A file that a command takes for a signed request. */
public final class SignedRequestFile {
  private SignedRequestFile() {}

  /**
   * Its bytes, which at least begin as a signed document does.
   *
   * @param file {@code -} for standard input
   * @throws WritException {@code CLI-001} for a file of another kind, {@code CLI-002} where it
   *     cannot be read
   */
  public static byte[] read(Session session, String file) {
    byte[] bytes = session.read(file);
    if (bytes.length > 0 && bytes[0] == '{') {
      return bytes;
    }
    throw new WritException(
        CliError.USAGE,
        (file.equals("-") ? "what came on standard input" : file)
            + " is no signed request, such as `writ run --save-request FILE` writes; a policy's"
            + " file is for `writ policy check`, a bundle for `writ verify`");
  }
}
