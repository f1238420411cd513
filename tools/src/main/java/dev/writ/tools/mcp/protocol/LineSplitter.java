package dev.writ.tools.mcp.protocol;

import dev.writ.canonicalize.WritException;
import dev.writ.tools.error.ToolsError;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.function.Consumer;

/** Cuts a stream into lines of bounded length, wherever it comes in pieces. */
public final class LineSplitter {
  private final int max;
  private final Consumer<byte[]> lines;
  private final ByteArrayOutputStream begun = new ByteArrayOutputStream();

  /**
   * @param max bytes of one line
   * @param lines gets each line without its end; an empty line is left out
   */
  public LineSplitter(int max, Consumer<byte[]> lines) {
    this.max = max;
    this.lines = lines;
  }

  /**
   * Takes the next piece.
   *
   * @throws WritException {@code TOL-236} for a line that is too long
   */
  public void next(byte[] piece) {
    int from = 0;
    for (int i = 0; i < piece.length; i++) {
      if (piece[i] == '\n') {
        add(piece, from, i);
        from = i + 1;
        tell();
      }
    }
    add(piece, from, piece.length);
  }

  private void add(byte[] piece, int from, int to) {
    if (begun.size() + (to - from) > max) {
      begun.reset();
      throw new WritException(ToolsError.UPSTREAM_FLOOD, "a line of more than " + max + " bytes");
    }
    begun.write(piece, from, to - from);
  }

  private void tell() {
    byte[] line = begun.toByteArray();
    begun.reset();
    int length = line.length;
    if (length > 0 && line[length - 1] == '\r') {
      length--;
    }
    if (length > 0) {
      lines.accept(Arrays.copyOf(line, length));
    }
  }
}
