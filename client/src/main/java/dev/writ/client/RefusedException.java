package dev.writ.client;

import dev.writ.canonicalize.WritException;
import dev.writ.client.error.ClientError;

/** The server refused before a decision ({@code GWY-060}), with a code of its own. */
public final class RefusedException extends WritException {
  private static final long serialVersionUID = 1L;

  private final String serverCode;
  private final int status;

  RefusedException(int status, String serverCode, String detail) {
    super(ClientError.REFUSED, serverCode + " " + detail);
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
