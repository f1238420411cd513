package dev.writ.client;

import dev.writ.canonicalize.WritException;
import dev.writ.client.error.ClientError;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The server refused before a decision ({@code GWY-060}), with a code of its own. */
public final class RefusedException extends WritException {
  private static final long serialVersionUID = 1L;

  private final String serverCode;
  private final int status;

  /**
   * @param meaning what the code says of every refusal that has it
   * @param detail what was found this time, perhaps nothing
   */
  RefusedException(int status, String serverCode, String meaning, String detail) {
    super(
        ClientError.REFUSED,
        serverCode
            + " "
            + Stream.of(meaning, detail)
                .filter(said -> !said.isEmpty())
                .collect(Collectors.joining(": ")));
    this.status = status;
    this.serverCode = serverCode;
  }

  /** The server's code, of spec/errors.md. */
  public String serverCode() {
    return serverCode;
  }

  /** The HTTP status. */
  public int status() {
    return status;
  }
}
