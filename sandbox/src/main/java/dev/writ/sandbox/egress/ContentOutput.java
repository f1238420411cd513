package dev.writ.sandbox.egress;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Writes the content of one message with new framing. */
final class ContentOutput {
  private static final byte[] CRLF = {'\r', '\n'};

  private final OutputStream out;
  private final boolean chunked;

  ContentOutput(OutputStream out, Framing framing) {
    this.out = out;
    this.chunked = framing instanceof Framing.Chunked;
  }

  void write(byte[] bytes, int length) throws IOException {
    if (length == 0) {
      return; // an empty chunk would end the content
    }
    if (!chunked) {
      out.write(bytes, 0, length);
      return;
    }
    byte[] size = Integer.toHexString(length).getBytes(StandardCharsets.US_ASCII);
    byte[] all = Arrays.copyOf(size, size.length + length + 4);
    System.arraycopy(CRLF, 0, all, size.length, 2);
    System.arraycopy(bytes, 0, all, size.length + 2, length);
    System.arraycopy(CRLF, 0, all, all.length - 2, 2);
    out.write(all);
  }

  void end() throws IOException {
    if (chunked) {
      out.write("0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
    }
    out.flush();
  }
}
