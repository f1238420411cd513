package dev.writ.cli.term;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/**
 * Filters all output to a terminal: each character that would control the terminal or change the
 * reading direction is replaced by a visible sign. Only the colours that {@link Style} and the help
 * use pass unchanged. Output that is redirected is not filtered.
 */
final class VisibleStream extends OutputStream {
  /**
   * Sequences for colours, bold and dim text; none that conceals or inverts text or moves the
   * cursor.
   */
  private static final Pattern COLOUR =
      Pattern.compile("\u001b\\[(?:0|1|2|21|22|31|32|33|36|39)?m");

  private static final int COLOUR_CHARS_MAX = 5;
  private static final char SIGN = '\ufffd';

  private final OutputStream to;
  private final CharsetDecoder decoder =
      StandardCharsets.UTF_8
          .newDecoder()
          .onMalformedInput(CodingErrorAction.REPLACE)
          .onUnmappableCharacter(CodingErrorAction.REPLACE);
  private byte[] undecoded = {};

  /** A carriage return, or the beginning of a colour sequence that is not complete yet. */
  private final StringBuilder begun = new StringBuilder();

  VisibleStream(OutputStream to) {
    this.to = to;
  }

  @Override
  public void write(int b) throws IOException {
    write(new byte[] {(byte) b}, 0, 1);
  }

  @Override
  public synchronized void write(byte[] bytes, int from, int count) throws IOException {
    ByteBuffer in = ByteBuffer.allocate(undecoded.length + count);
    in.put(undecoded).put(bytes, from, count).flip();
    CharBuffer text = CharBuffer.allocate(in.remaining() + 1);
    decoder.decode(in, text, false);
    undecoded = new byte[in.remaining()];
    in.get(undecoded);
    StringBuilder out = new StringBuilder();
    text.flip().toString().codePoints().forEach(c -> take(c, out));
    to.write(out.toString().getBytes(StandardCharsets.UTF_8));
  }

  private void take(int c, StringBuilder out) {
    if (!begun.isEmpty()) {
      begun.appendCodePoint(c);
      if (begun.charAt(0) == '\r' || !goesOn()) {
        end(out);
      }
    } else if (c == '\r' || c == '\u001b') {
      begun.appendCodePoint(c);
    } else {
      show(c, out);
    }
  }

  private boolean goesOn() {
    return begun.length() < COLOUR_CHARS_MAX && begun.toString().matches("\u001b(?:\\[[0-9]*)?");
  }

  /** Handles a complete sequence: a line end and a colour pass, anything else does not. */
  private void end(StringBuilder out) {
    String all = begun.toString();
    begun.setLength(0);
    if (all.equals("\r\n")) {
      out.append('\n');
    } else if (COLOUR.matcher(all).matches()) {
      out.append(all);
    } else {
      out.append(SIGN);
      all.substring(1).codePoints().forEach(c -> take(c, out));
    }
  }

  private static void show(int c, StringBuilder out) {
    boolean plain = c == '\n' || c == '\t' || !Text.steers(c);
    out.appendCodePoint(plain ? c : SIGN);
  }

  @Override
  public synchronized void flush() throws IOException {
    to.flush();
  }

  /** Writes an incomplete sequence in visible form: nothing follows that could complete it. */
  synchronized void finish() throws IOException {
    StringBuilder out = new StringBuilder();
    if (!begun.isEmpty()) {
      String rest = begun.substring(1);
      begun.setLength(0);
      out.append(SIGN).append(rest);
    }
    out.append(undecoded.length == 0 ? "" : String.valueOf(SIGN));
    undecoded = new byte[0];
    to.write(out.toString().getBytes(StandardCharsets.UTF_8));
    to.flush();
  }
}
