package dev.writ.gateway.http;

import dev.writ.canonicalize.WritException;
import dev.writ.gateway.error.GatewayError;

/** A range that a content does not have; the answer says how many bytes it has (RFC 9110, 14.4). */
public final class OutOfRange extends WritException {
  private static final long serialVersionUID = 1L;

  private final long size;

  /**
   * @param range as it was asked for
   * @param size of the content
   */
  public OutOfRange(String range, long size) {
    super(GatewayError.RANGE, range + " of " + size + " bytes");
    this.size = size;
  }

  /** The header {@code Content-Range} of the refusal. */
  String contentRange() {
    return "bytes */" + size;
  }
}
