package dev.writ.replay.export.parquet;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * Writes structures in the compact protocol of Thrift, in which Parquet has its headers and its
 * footer. The caller gives the fields of a structure in the order of their numbers.
 */
final class ThriftCompact {
  private static final int TRUE = 1;
  private static final int FALSE = 2;
  private static final int I32 = 5;
  private static final int I64 = 6;
  private static final int BINARY = 8;
  private static final int LIST = 9;
  private static final int STRUCT = 12;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  /** The last field's number, of each structure that is open. */
  private final Deque<Integer> fields = new ArrayDeque<>();

  byte[] toBytes() {
    return out.toByteArray();
  }

  /** Opens a structure that is no field: the outermost one, or an element of a list. */
  ThriftCompact begin() {
    fields.push(0);
    return this;
  }

  /** Opens a structure, or a union, that is a field. */
  ThriftCompact begin(int field) {
    head(field, STRUCT);
    return begin();
  }

  ThriftCompact end() {
    out.write(0);
    fields.pop();
    return this;
  }

  ThriftCompact bool(int field, boolean value) {
    head(field, value ? TRUE : FALSE);
    return this;
  }

  ThriftCompact i32(int field, int value) {
    head(field, I32);
    zigzag(value);
    return this;
  }

  ThriftCompact i64(int field, long value) {
    head(field, I64);
    zigzag(value);
    return this;
  }

  ThriftCompact bytes(int field, byte[] value) {
    head(field, BINARY);
    binary(value);
    return this;
  }

  ThriftCompact text(int field, String value) {
    return bytes(field, value.getBytes(StandardCharsets.UTF_8));
  }

  /** A list of structures, which are written next, each by {@link #begin()}. */
  ThriftCompact structs(int field, int size) {
    return list(field, size, STRUCT);
  }

  /** An element of a list that was written before, by {@link #begin()} and {@link #end()}. */
  ThriftCompact struct(byte[] written) {
    out.writeBytes(written);
    return this;
  }

  ThriftCompact i32s(int field, int... values) {
    list(field, values.length, I32);
    for (int value : values) {
      zigzag(value);
    }
    return this;
  }

  ThriftCompact texts(int field, String... values) {
    list(field, values.length, BINARY);
    for (String value : values) {
      binary(value.getBytes(StandardCharsets.UTF_8));
    }
    return this;
  }

  private ThriftCompact list(int field, int size, int type) {
    head(field, LIST);
    if (size < 15) {
      out.write(size << 4 | type);
    } else {
      out.write(0xf0 | type);
      varint(out, size);
    }
    return this;
  }

  private void head(int field, int type) {
    int step = field - fields.pop();
    fields.push(field);
    if (step < 1 || step > 15) {
      throw new IllegalArgumentException("field " + field + " comes " + step + " behind another");
    }
    out.write(step << 4 | type);
  }

  private void binary(byte[] value) {
    varint(out, value.length);
    out.writeBytes(value);
  }

  private void zigzag(long value) {
    varint(out, value << 1 ^ value >> 63);
  }

  /** Seven bits in a byte, the lowest first; the highest bit says that more follow. */
  static void varint(ByteArrayOutputStream out, long value) {
    long left = value;
    while ((left & ~0x7fL) != 0) {
      out.write((int) (left & 0x7f | 0x80));
      left >>>= 7;
    }
    out.write((int) left);
  }
}
