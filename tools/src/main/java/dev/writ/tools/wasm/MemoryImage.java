package dev.writ.tools.wasm;

import com.dylibso.chicory.runtime.Memory;
import java.util.Arrays;

/**
 * What a memory held at one moment, from which other guests start. Guests read its pages in place,
 * and have a copy of each that they write to ({@link GuestMemory}); nothing changes it.
 */
public final class MemoryImage {
  /** A page of zeros, which is never written to. */
  static final byte[] ZEROS = new byte[Memory.PAGE_SIZE];

  private final byte[][] pages;

  private MemoryImage(byte[][] pages) {
    this.pages = pages;
  }

  /** What a memory holds now. */
  public static MemoryImage of(Memory memory) {
    return of(memory.readBytes(0, memory.pages() * Memory.PAGE_SIZE));
  }

  /** What {@link #toBytes} has given; whole pages. */
  public static MemoryImage of(byte[] bytes) {
    byte[][] pages = new byte[bytes.length / Memory.PAGE_SIZE][];
    for (int i = 0; i < pages.length; i++) {
      int from = i * Memory.PAGE_SIZE;
      byte[] page = Arrays.copyOfRange(bytes, from, from + Memory.PAGE_SIZE);
      pages[i] = Arrays.equals(page, ZEROS) ? ZEROS : page;
    }
    return new MemoryImage(pages);
  }

  /** All of it. */
  public byte[] toBytes() {
    byte[] bytes = new byte[pages.length * Memory.PAGE_SIZE];
    for (int i = 0; i < pages.length; i++) {
      System.arraycopy(pages[i], 0, bytes, i * Memory.PAGE_SIZE, Memory.PAGE_SIZE);
    }
    return bytes;
  }

  int pages() {
    return pages.length;
  }

  long bytes() {
    return (long) pages.length * Memory.PAGE_SIZE;
  }

  /** Puts its pages, which stay shared, at the beginning of an array. */
  void show(byte[][] in) {
    System.arraycopy(pages, 0, in, 0, pages.length);
  }
}
