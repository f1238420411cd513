package dev.writ.sandbox.egress;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;

/** Reads the content of one message, and no byte after it. */
final class ContentInput {
  private static final int MOST_TRAILER = 8 * 1024;
  private static final int MOST_CHUNK_LINE = 18;

  private final InputStream in;
  private final Framing framing;
  private long left;
  private boolean begun;
  private boolean ended;

  ContentInput(InputStream in, Framing framing) {
    this.in = in;
    this.framing = framing;
    this.left = framing instanceof Framing.Length length ? length.bytes() : 0;
    this.ended = framing instanceof Framing.None;
  }

  /**
   * Reads some bytes.
   *
   * @return how many; -1 at the end of the content
   * @throws EOFException where the stream ends before the content does
   */
  int read(byte[] buffer) throws IOException {
    if (ended) {
      return -1;
    }
    return switch (framing) {
      case Framing.None none -> -1;
      case Framing.UntilClose close -> in.read(buffer);
      case Framing.Length length -> left == 0 ? end() : some(buffer);
      case Framing.Chunked chunked -> left == 0 && !nextChunk() ? end() : some(buffer);
    };
  }

  private int end() {
    ended = true;
    return -1;
  }

  private int some(byte[] buffer) throws IOException {
    int n = in.read(buffer, 0, (int) Math.min(buffer.length, left));
    if (n < 0) {
      throw new EOFException("the stream ends within the content");
    }
    left -= n;
    return n;
  }

  /** RFC 9112, section 7.1, without extensions; trailers are read and dropped. */
  private boolean nextChunk() throws IOException {
    int[] most = {MOST_CHUNK_LINE};
    if (begun && !HttpHead.line(in, most).isEmpty()) {
      throw new Malformed("a chunk is longer than it says");
    }
    begun = true;
    String size = HttpHead.line(in, most);
    if (!size.matches("[0-9A-Fa-f]{1,12}")) {
      throw new Malformed("the size of a chunk");
    }
    left = Long.parseLong(size, 16);
    if (left > 0) {
      return true;
    }
    int[] trailer = {MOST_TRAILER};
    while (!HttpHead.line(in, trailer).isEmpty()) {
      // dropped
    }
    return false;
  }
}
