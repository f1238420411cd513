package dev.writ.gateway.http;

import dev.writ.canonicalize.ErrorCode;

/** An error code of a surface, with its HTTP status. */
public interface HttpErrorCode extends ErrorCode {

  /** The status that {@link Problems} answers it with. */
  int httpStatus();
}
