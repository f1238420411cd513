package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * {@code poll_oneoff} never waits. Descriptors are ready at once; if there are only clocks, the
 * guest's clock jumps to the earliest deadline, so that a sleeping program continues immediately,
 * at the later time.
 */
final class WasiPoll {
  private static final int SUBSCRIPTIONS_MAX = 1024;
  private static final int SUBSCRIPTION_BYTES = 48;
  private static final int EVENT_BYTES = 32;
  private static final int TAG_CLOCK = 0;
  private static final int TAG_FD_WRITE = 2;

  private WasiPoll() {}

  static int poll(Wasi wasi, Memory memory, int in, int out, int count, int resultAt) {
    if (count < 1 || count > SUBSCRIPTIONS_MAX) {
      return Errno.INVAL;
    }
    byte[] subscriptions = memory.readBytes(in, count * SUBSCRIPTION_BYTES);
    ByteBuffer from = ByteBuffer.wrap(subscriptions).order(ByteOrder.LITTLE_ENDIAN);
    long start = wasi.clock().peek();
    long earliest = -1;
    boolean ready = false;
    for (int i = 0; i < count; i++) {
      int at = i * SUBSCRIPTION_BYTES;
      int tag = from.get(at + 8);
      if (tag < TAG_CLOCK || tag > TAG_FD_WRITE) {
        return Errno.INVAL;
      }
      if (tag == TAG_CLOCK) {
        long deadline = deadline(start, from, at);
        earliest = earliest < 0 ? deadline : Math.min(earliest, deadline);
      } else {
        ready = true;
      }
    }
    if (!ready) {
      wasi.clock().advanceTo(earliest);
    }
    int events = 0;
    for (int i = 0; i < count; i++) {
      int at = i * SUBSCRIPTION_BYTES;
      int tag = from.get(at + 8);
      if (tag != TAG_CLOCK || deadline(start, from, at) <= wasi.clock().peek()) {
        memory.write(out + events * EVENT_BYTES, event(wasi, from, at, tag));
        events++;
      }
    }
    memory.writeI32(resultAt, events);
    return Errno.SUCCESS;
  }

  /** The deadline of a clock subscription, on the guest's clock; relative ones count from now. */
  private static long deadline(long start, ByteBuffer from, int at) {
    long timeout = from.getLong(at + 24);
    boolean absolute = (from.getShort(at + 40) & 1) != 0;
    if (timeout < 0) {
      return Long.MAX_VALUE;
    }
    if (absolute) {
      return timeout;
    }
    long sum = start + timeout;
    return sum < 0 ? Long.MAX_VALUE : sum;
  }

  private static byte[] event(Wasi wasi, ByteBuffer from, int at, int tag) {
    ByteBuffer event = ByteBuffer.allocate(EVENT_BYTES).order(ByteOrder.LITTLE_ENDIAN);
    event.putLong(0, from.getLong(at));
    boolean bad = tag != TAG_CLOCK && !wasi.isReady(from.getInt(at + 16));
    event.putShort(8, (short) (bad ? Errno.BADF : Errno.SUCCESS));
    event.put(10, (byte) tag);
    event.putLong(16, tag == TAG_CLOCK ? 0 : 1);
    return event.array();
  }
}
