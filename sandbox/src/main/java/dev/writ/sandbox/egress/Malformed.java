package dev.writ.sandbox.egress;

import java.io.IOException;

/** A message that is not exactly what RFC 9112 says; it is refused, never guessed at. */
final class Malformed extends IOException {
  private static final long serialVersionUID = 1L;

  Malformed(String what) {
    super(what);
  }
}
