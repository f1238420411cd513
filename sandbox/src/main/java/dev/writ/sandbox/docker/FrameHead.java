package dev.writ.sandbox.docker;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * The eight bytes before each piece of output of a process without a terminal (Docker Engine API,
 * "Attach to a container", stream format): the stream, three zeros, and the length, big-endian.
 *
 * @param stream 1 is stdout, 2 stderr
 */
record FrameHead(int stream, int length) {
  static final int BYTES = 8;

  /** More than any service sends at once; a longer frame is malformed. */
  private static final int MOST_BYTES = 1 << 24;

  /**
   * The next frame head; empty at the end of the stream.
   *
   * @throws dev.writ.canonicalize.WritException {@code SBX-009}
   */
  static Optional<FrameHead> read(InputStream in) throws IOException {
    byte[] bytes;
    try {
      int first = in.read();
      if (first < 0) {
        return Optional.empty();
      }
      bytes = new byte[BYTES];
      bytes[0] = (byte) first;
    } catch (IOException e) {
      // A service that closes the connection with unread input resets it. It still reports how the
      // process ended; if the service is gone, that query fails instead.
      return Optional.empty();
    }
    if (in.readNBytes(bytes, 1, BYTES - 1) < BYTES - 1) {
      throw ResponseHead.malformed("an end in the head of a frame");
    }
    int word = ByteBuffer.wrap(bytes).getInt();
    int length = ByteBuffer.wrap(bytes).getInt(4);
    boolean known = word == 1 << 24 || word == 2 << 24;
    if (!known || length < 0 || length > MOST_BYTES) {
      throw ResponseHead.malformed("the head of a frame");
    }
    return Optional.of(new FrameHead(word >>> 24, length));
  }
}
