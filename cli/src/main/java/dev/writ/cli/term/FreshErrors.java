package dev.writ.cli.term;

import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/**
 * Prints as any other; {@link #checkError} tells of what was printed since it was last asked. A
 * server's log may fail for an hour, while a disk is full, and then go on.
 */
final class FreshErrors extends PrintStream {

  FreshErrors(OutputStream out) {
    super(out, true, StandardCharsets.UTF_8);
  }

  @Override
  public boolean checkError() {
    boolean failed = super.checkError();
    clearError();
    return failed;
  }
}
