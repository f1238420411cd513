package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.ConstantEvaluators;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.runtime.WasmRuntimeException;
import com.dylibso.chicory.wasm.ChicoryException;
import com.dylibso.chicory.wasm.UninstantiableException;
import com.dylibso.chicory.wasm.types.ActiveDataSegment;
import com.dylibso.chicory.wasm.types.DataSegment;
import com.dylibso.chicory.wasm.types.MemoryLimits;
import com.dylibso.chicory.wasm.types.PassiveDataSegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;

/**
 * A guest's memory, which behaves as Chicory's own, to the words of its exceptions, and differs in
 * two ways. It remembers whether a growth was refused, so that an outcome can state {@code
 * out-of-memory} when the guest itself only traps. And a page is the guest's own only from the
 * first time that it writes to it: before that it reads zeros or a page of the {@link MemoryImage}
 * that it started from, which many guests read. A small script writes to 4 of its 20 pages.
 */
@SuppressWarnings(
    "removal") // Memory still has methods of the threads proposal, which is refused here
final class GuestMemory implements Memory {
  private static final int SHIFT = 16;
  private static final int MASK = PAGE_SIZE - 1;

  private static final VarHandle SHORTS = view(short[].class);
  private static final VarHandle INTS = view(int[].class);
  private static final VarHandle LONGS = view(long[].class);

  private final MemoryLimits limits;
  private final Optional<MemoryImage> image;

  /** What is read: pages of its own, and shared ones. */
  private final byte[][] pages;

  /** What may be written to: pages of its own, null where it has none yet. */
  private final byte[][] own;

  private int count;
  private DataSegment[] segments;
  private boolean refused;

  GuestMemory(MemoryLimits limits) {
    this(limits, Optional.empty());
  }

  /**
   * @param image what {@link #restore} makes of it
   */
  GuestMemory(MemoryLimits limits, Optional<MemoryImage> image) {
    this.limits = limits;
    this.image = image;
    this.pages = new byte[maximumPages()][];
    this.own = new byte[maximumPages()][];
    this.count = limits.initialPages();
    zero();
  }

  private static VarHandle view(Class<?> array) {
    return MethodHandles.byteArrayViewVarHandle(array, ByteOrder.LITTLE_ENDIAN);
  }

  /** Whether a growth was refused. */
  boolean refused() {
    return refused;
  }

  /** Makes it what its image says; false if it may not have as many pages. */
  boolean restore() {
    MemoryImage from = image.orElseThrow();
    if (grow(from.pages() - count) < 0) {
      return false;
    }
    from.show(pages);
    Arrays.fill(own, null);
    return true;
  }

  @Override
  public int grow(int more) {
    int before = count;
    int after = before + more;
    if (after > pages.length || after < before) {
      refused = true;
      return -1;
    }
    Arrays.fill(pages, before, after, MemoryImage.ZEROS);
    count = after;
    return before;
  }

  @Override
  public int pages() {
    return count;
  }

  @Override
  public int initialPages() {
    return limits.initialPages();
  }

  @Override
  public int maximumPages() {
    return Math.min(limits.maximumPages(), RUNTIME_MAX_PAGES);
  }

  @Override
  public boolean shared() {
    return false;
  }

  @Override
  public Object lock(int address) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int waitOn(int address, int expected, long timeout) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int waitOn(int address, long expected, long timeout) {
    throw new UnsupportedOperationException();
  }

  @Override
  public int notify(int address, int maxThreads) {
    return 0;
  }

  @Override
  public void initialize(Instance instance, DataSegment[] data) {
    initialize(instance, data, 0);
  }

  /** An image replaces what active segments would write. */
  @Override
  public void initialize(Instance instance, DataSegment[] data, int memoryIndex) {
    segments = data;
    if (data == null || image.isPresent()) {
      return;
    }
    for (DataSegment segment : data) {
      if (segment instanceof ActiveDataSegment active && active.index() == memoryIndex) {
        int at =
            (int) ConstantEvaluators.computeConstantValue(instance, active.offsetInstructions())[0];
        check(at, active.data().length, bytes(), UninstantiableException::new);
        write(at, active.data(), 0, active.data().length);
      }
    }
  }

  @Override
  public void initPassiveSegment(int segment, int dest, int offset, int size) {
    write(dest, segments[segment].data(), offset, size);
  }

  @Override
  public void drop(int segment) {
    segments[segment] = PassiveDataSegment.EMPTY;
  }

  private int bytes() {
    return count * PAGE_SIZE;
  }

  private static String outOfBounds(int address, int size, int limit) {
    return "out of bounds memory access: attempted to access address: "
        + address
        + " but limit is: "
        + limit
        + " and size: "
        + size;
  }

  private static void check(
      int address, int size, int limit, Function<String, ChicoryException> exception) {
    if (address < 0
        || size < 0
        || address > limit
        || (size > 0 && (address + size > limit || address + size < 0))) {
      throw exception.apply(outOfBounds(address, size, limit));
    }
  }

  private void check(int address, int size) {
    check(address, size, bytes(), WasmRuntimeException::new);
  }

  /** The page of an address, to read a value of some bytes that lies within it. */
  private byte[] page(int address, int size) {
    int at = address >>> SHIFT;
    byte[] page = at < pages.length ? pages[at] : null;
    if (page == null) {
      throw new WasmRuntimeException(outOfBounds(address, size, bytes()));
    }
    return page;
  }

  /** The same, to write. */
  private byte[] ownPage(int address, int size) {
    int at = address >>> SHIFT;
    byte[] page = at < own.length ? own[at] : null;
    return page == null ? copied(address, size) : page;
  }

  private byte[] copied(int address, int size) {
    byte[] page = page(address, size).clone();
    own[address >>> SHIFT] = page;
    pages[address >>> SHIFT] = page;
    return page;
  }

  private static boolean isWithinPage(int address, int size) {
    return (address & MASK) <= PAGE_SIZE - size;
  }

  @Override
  public void write(int address, byte[] data, int offset, int size) {
    check(offset, size, data.length, WasmRuntimeException::new);
    check(address, size);
    for (int done = 0; done < size; ) {
      int to = address + done & MASK;
      int length = Math.min(size - done, PAGE_SIZE - to);
      System.arraycopy(data, offset + done, ownPage(address + done, 1), to, length);
      done += length;
    }
  }

  @Override
  public byte[] readBytes(int address, int length) {
    check(address, length);
    byte[] bytes = new byte[length];
    for (int done = 0; done < length; ) {
      int from = address + done & MASK;
      int part = Math.min(length - done, PAGE_SIZE - from);
      System.arraycopy(page(address + done, 1), from, bytes, done, part);
      done += part;
    }
    return bytes;
  }

  @Override
  public byte read(int address) {
    return page(address, 1)[address & MASK];
  }

  @Override
  public short readShort(int address) {
    return isWithinPage(address, 2)
        ? (short) SHORTS.get(page(address, 2), address & MASK)
        : (short) readSplit(address, 2);
  }

  @Override
  public int readInt(int address) {
    return isWithinPage(address, 4)
        ? (int) INTS.get(page(address, 4), address & MASK)
        : (int) readSplit(address, 4);
  }

  @Override
  public long readLong(int address) {
    return isWithinPage(address, 8)
        ? (long) LONGS.get(page(address, 8), address & MASK)
        : readSplit(address, 8);
  }

  /** A value that lies on two pages, byte by byte. */
  private long readSplit(int address, int size) {
    long value = 0;
    for (int i = 0; i < size; i++) {
      value |= (read(address + i) & 0xffL) << 8 * i;
    }
    return value;
  }

  @Override
  public void writeByte(int address, byte value) {
    ownPage(address, 1)[address & MASK] = value;
  }

  @Override
  public void writeShort(int address, short value) {
    if (isWithinPage(address, 2)) {
      SHORTS.set(ownPage(address, 2), address & MASK, value);
    } else {
      writeSplit(address, 2, value);
    }
  }

  @Override
  public void writeI32(int address, int value) {
    if (isWithinPage(address, 4)) {
      INTS.set(ownPage(address, 4), address & MASK, value);
    } else {
      writeSplit(address, 4, value);
    }
  }

  @Override
  public void writeLong(int address, long value) {
    if (isWithinPage(address, 8)) {
      LONGS.set(ownPage(address, 8), address & MASK, value);
    } else {
      writeSplit(address, 8, value);
    }
  }

  private void writeSplit(int address, int size, long value) {
    check(address, size);
    for (int i = 0; i < size; i++) {
      writeByte(address + i, (byte) (value >>> 8 * i));
    }
  }

  @Override
  public long readU16(int address) {
    return readShort(address) & 0xffffL;
  }

  @Override
  public void writeF32(int address, float value) {
    writeI32(address, Float.floatToRawIntBits(value));
  }

  @Override
  public long readF32(int address) {
    return readInt(address);
  }

  @Override
  public float readFloat(int address) {
    return Float.intBitsToFloat(readInt(address));
  }

  @Override
  public void writeF64(int address, double value) {
    writeLong(address, Double.doubleToRawLongBits(value));
  }

  @Override
  public double readDouble(int address) {
    return Double.longBitsToDouble(readLong(address));
  }

  @Override
  public long readF64(int address) {
    return readLong(address);
  }

  @Override
  public void zero() {
    Arrays.fill(pages, 0, count, MemoryImage.ZEROS);
    Arrays.fill(own, null);
  }

  @Override
  public void fill(byte value, int from, int to) {
    check(from, to - from);
    for (int at = from; at < to; ) {
      int first = at & MASK;
      int length = Math.min(to - at, PAGE_SIZE - first);
      Arrays.fill(ownPage(at, 1), first, first + length, value);
      at += length;
    }
  }

  @Override
  public void copy(int dest, int source, int size) {
    check(dest, size);
    check(source, size);
    if (size > 0 && isWithinPage(dest, size) && isWithinPage(source, size)) {
      byte[] to = ownPage(dest, size); // before the source is looked up: it may be the same page
      System.arraycopy(page(source, size), source & MASK, to, dest & MASK, size);
    } else {
      write(dest, readBytes(source, size), 0, size);
    }
  }
}
