package dev.writ.sandbox.egress;

import java.io.IOException;

/** A message that does not follow RFC 9112 exactly; it is refused, never repaired. */
final class Malformed extends IOException {
  private static final long serialVersionUID = 1L;

  Malformed(String what) {
    super(what);
  }
}
