package dev.writ.gateway.http;

import dev.writ.canonicalize.ErrorCode;

/** A code of a surface that is not the server's own: it brings its HTTP status along. */
public interface HttpErrorCode extends ErrorCode {

  /** The status that {@link Problems} answers it with. */
  int httpStatus();
}
