package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.ByteArrayMemory;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.types.DataSegment;
import com.dylibso.chicory.wasm.types.MemoryLimits;

/**
 * A guest's memory that remembers whether a growth was refused, so that an outcome can state {@code
 * out-of-memory} when the guest itself only traps. Everything else is Chicory's own memory.
 */
@SuppressWarnings(
    "removal") // Memory still has methods of the threads proposal, which is refused here
final class GuestMemory implements Memory {
  private final ByteArrayMemory memory;
  private boolean refused;

  GuestMemory(MemoryLimits limits) {
    this.memory = new ByteArrayMemory(limits);
  }

  /** Whether a growth was refused. */
  boolean refused() {
    return refused;
  }

  @Override
  public int grow(int pages) {
    int before = memory.grow(pages);
    refused |= before < 0;
    return before;
  }

  @Override
  public int pages() {
    return memory.pages();
  }

  @Override
  public int initialPages() {
    return memory.initialPages();
  }

  @Override
  public int maximumPages() {
    return memory.maximumPages();
  }

  @Override
  public boolean shared() {
    return memory.shared();
  }

  @Override
  public Object lock(int address) {
    return memory.lock(address);
  }

  @Override
  public int waitOn(int address, int expected, long timeout) {
    return memory.waitOn(address, expected, timeout);
  }

  @Override
  public int waitOn(int address, long expected, long timeout) {
    return memory.waitOn(address, expected, timeout);
  }

  @Override
  public int notify(int address, int maxThreads) {
    return memory.notify(address, maxThreads);
  }

  @Override
  public void initialize(Instance instance, DataSegment[] segments) {
    memory.initialize(instance, segments);
  }

  @Override
  public void initialize(Instance instance, DataSegment[] segments, int memoryIndex) {
    memory.initialize(instance, segments, memoryIndex);
  }

  @Override
  public void initPassiveSegment(int segment, int dest, int offset, int size) {
    memory.initPassiveSegment(segment, dest, offset, size);
  }

  @Override
  public void write(int address, byte[] data, int offset, int size) {
    memory.write(address, data, offset, size);
  }

  @Override
  public byte read(int address) {
    return memory.read(address);
  }

  @Override
  public byte[] readBytes(int address, int length) {
    return memory.readBytes(address, length);
  }

  @Override
  public void writeI32(int address, int value) {
    memory.writeI32(address, value);
  }

  @Override
  public int readInt(int address) {
    return memory.readInt(address);
  }

  @Override
  public void writeLong(int address, long value) {
    memory.writeLong(address, value);
  }

  @Override
  public long readLong(int address) {
    return memory.readLong(address);
  }

  @Override
  public void writeShort(int address, short value) {
    memory.writeShort(address, value);
  }

  @Override
  public short readShort(int address) {
    return memory.readShort(address);
  }

  @Override
  public long readU16(int address) {
    return memory.readU16(address);
  }

  @Override
  public void writeByte(int address, byte value) {
    memory.writeByte(address, value);
  }

  @Override
  public void writeF32(int address, float value) {
    memory.writeF32(address, value);
  }

  @Override
  public long readF32(int address) {
    return memory.readF32(address);
  }

  @Override
  public float readFloat(int address) {
    return memory.readFloat(address);
  }

  @Override
  public void writeF64(int address, double value) {
    memory.writeF64(address, value);
  }

  @Override
  public double readDouble(int address) {
    return memory.readDouble(address);
  }

  @Override
  public long readF64(int address) {
    return memory.readF64(address);
  }

  @Override
  public void zero() {
    memory.zero();
  }

  @Override
  public void fill(byte value, int from, int to) {
    memory.fill(value, from, to);
  }

  @Override
  public void copy(int dest, int source, int size) {
    memory.copy(dest, source, size);
  }

  @Override
  public void drop(int segment) {
    memory.drop(segment);
  }
}
