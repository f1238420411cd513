package dev.writ.canonicalize.cose;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes the few kinds of CBOR items that a COSE_Sign1 of ours has, in the core deterministic
 * encoding (RFC 8949, 4.2.1): lengths and integers in their shortest form. The caller gives the
 * keys of a map in the order of their encoded bytes. Of our own because nothing of ours reads CBOR,
 * and an auditor's class path is worth more than these lines.
 */
public final class Cbor {
  private static final int UNSIGNED = 0;
  private static final int NEGATIVE = 1;
  private static final int BYTES = 2;
  private static final int TEXT = 3;
  private static final int ARRAY = 4;
  private static final int MAP = 5;
  private static final int TAG = 6;
  private static final int NULL = 0xf6;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  public byte[] toBytes() {
    return out.toByteArray();
  }

  public Cbor integer(long value) {
    return value >= 0 ? head(UNSIGNED, value) : head(NEGATIVE, -1 - value);
  }

  public Cbor bytes(byte[] value) {
    head(BYTES, value.length).out.writeBytes(value);
    return this;
  }

  public Cbor text(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    head(TEXT, utf8.length).out.writeBytes(utf8);
    return this;
  }

  /** An array, whose items are written next. */
  public Cbor array(int items) {
    return head(ARRAY, items);
  }

  /** A map, whose keys and values are written next. */
  public Cbor map(int entries) {
    return head(MAP, entries);
  }

  /** A tag on the item that is written next. */
  public Cbor tag(int number) {
    return head(TAG, number);
  }

  /** The simple value null. */
  public Cbor nothing() {
    out.write(NULL);
    return this;
  }

  private Cbor head(int major, long argument) {
    int type = major << 5;
    if (argument < 24) {
      out.write(type | (int) argument);
    } else if (argument < 1 << 8) {
      out.write(type | 24);
      bigEndian(argument, 1);
    } else if (argument < 1 << 16) {
      out.write(type | 25);
      bigEndian(argument, 2);
    } else if (argument < 1L << 32) {
      out.write(type | 26);
      bigEndian(argument, 4);
    } else {
      out.write(type | 27);
      bigEndian(argument, 8);
    }
    return this;
  }

  private void bigEndian(long argument, int bytes) {
    for (int i = bytes - 1; i >= 0; i--) {
      out.write((int) (argument >>> 8 * i));
    }
  }
}
