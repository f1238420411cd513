package dev.writ.replay.export.parquet;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;

/**
 * Collects numbers of few bits, and writes them in Parquet's hybrid of run lengths and bit packing:
 * as one run where all are equal, else packed.
 */
final class SmallNumbers {
  private int[] numbers = new int[64];
  private int count;

  void add(int number) {
    if (count == numbers.length) {
      numbers = Arrays.copyOf(numbers, 2 * count);
    }
    numbers[count++] = number;
  }

  void clear() {
    count = 0;
  }

  /** How many bits a number below {@code bound} has. */
  static int width(int bound) {
    return Integer.SIZE - Integer.numberOfLeadingZeros(bound - 1);
  }

  /**
   * @param width of each number, in bits; at least that of the largest
   */
  byte[] encoded(int width) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    if (isOneRun()) {
      ThriftCompact.varint(out, (long) count << 1);
      for (int bits = 0; bits < width; bits += Byte.SIZE) {
        out.write(numbers[0] >>> bits);
      }
    } else {
      int groups = (count + 7) / 8;
      ThriftCompact.varint(out, (long) groups << 1 | 1);
      pack(out, width, groups * 8);
    }
    return out.toByteArray();
  }

  private boolean isOneRun() {
    for (int i = 1; i < count; i++) {
      if (numbers[i] != numbers[0]) {
        return false;
      }
    }
    return true;
  }

  /** The lowest bit of the first number is the lowest of the first byte. */
  private void pack(ByteArrayOutputStream out, int width, int padded) {
    long bits = 0;
    int filled = 0;
    for (int i = 0; i < padded; i++) {
      bits |= (i < count ? (long) numbers[i] : 0) << filled;
      filled += width;
      while (filled >= Byte.SIZE) {
        out.write((int) bits);
        bits >>>= Byte.SIZE;
        filled -= Byte.SIZE;
      }
    }
  }
}
