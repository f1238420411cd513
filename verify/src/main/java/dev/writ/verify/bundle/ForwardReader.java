package dev.writ.verify.bundle;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Reads a source forward in large pieces. Not thread safe. */
final class ForwardReader {
  static final int BYTES = 1 << 16;

  private final PositionedSource source;
  private final byte[] bytes = new byte[BYTES];
  private long at;
  private int length;

  ForwardReader(PositionedSource source) {
    this.source = source;
  }

  /**
   * The bytes at an offset, up to {@code BYTES} of them; valid until the next call.
   *
   * @throws dev.writ.canonicalize.WritException {@code RPL-011} where they end before
   */
  ByteBuffer at(long place, int count) {
    if (place < at || place + count > at + length) {
      int wanted = (int) Math.max(count, Math.min(BYTES, source.size() - place));
      source.read(place, bytes, 0, wanted);
      at = place;
      length = wanted;
    }
    return ByteBuffer.wrap(bytes, (int) (place - at), count).slice().order(ByteOrder.LITTLE_ENDIAN);
  }
}
