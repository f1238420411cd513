package dev.writ.sandbox.docker;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;

/** Reads the whole body of a response: of a stated length, in chunks, or up to the end. */
final class ResponseBody {
  private static final int MOST_LINE = 1_024;

  private ResponseBody() {}

  /**
   * @param most the greatest length, in bytes
   * @throws WritException {@code SBX-009} where it has more, or ends before its end
   */
  static byte[] read(ResponseHead head, InputStream in, int most) throws IOException {
    if (head.bodiless()) {
      return new byte[0];
    }
    if (head.chunked()) {
      return chunks(in, most);
    }
    if (head.length().isPresent()) {
      return exactly(in, head.length().getAsLong(), most);
    }
    byte[] all = in.readNBytes(most);
    if (in.read() >= 0) {
      throw tooLong(most);
    }
    return all;
  }

  private static byte[] chunks(InputStream in, int most) throws IOException {
    ByteArrayOutputStream all = new ByteArrayOutputStream();
    while (true) {
      String size = line(in).split(";", 2)[0].strip();
      if (!size.matches("[0-9a-fA-F]{1,8}")) {
        throw ResponseHead.malformed("the size of a chunk");
      }
      long length = Long.parseLong(size, 16);
      if (length == 0) {
        break;
      }
      all.writeBytes(exactly(in, length, most - all.size()));
      if (!line(in).isEmpty()) {
        throw ResponseHead.malformed("the end of a chunk");
      }
    }
    int trailers = 0;
    while (!line(in).isEmpty()) {
      if (++trailers > 32) {
        throw ResponseHead.malformed("trailers without end");
      }
    }
    return all.toByteArray();
  }

  private static byte[] exactly(InputStream in, long length, int most) throws IOException {
    if (length > most) {
      throw tooLong(most);
    }
    byte[] bytes = in.readNBytes((int) length);
    if (bytes.length < length) {
      throw ResponseHead.malformed("an end in the body");
    }
    return bytes;
  }

  private static String line(InputStream in) throws IOException {
    StringBuilder text = new StringBuilder();
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0 || text.length() > MOST_LINE) {
        throw ResponseHead.malformed("a line of a chunk");
      }
      text.append((char) c);
    }
    if (text.isEmpty() || text.charAt(text.length() - 1) != '\r') {
      throw ResponseHead.malformed("a line that does not end with CR LF");
    }
    return text.substring(0, text.length() - 1);
  }

  private static WritException tooLong(int most) {
    return new WritException(SandboxError.ENGINE_ANSWER, "a body of more than " + most + " bytes");
  }
}
