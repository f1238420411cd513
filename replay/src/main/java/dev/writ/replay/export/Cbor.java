package dev.writ.replay.export;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes the few kinds of CBOR items that a COSE_Sign1 of ours has, in the core deterministic
 * encoding (RFC 8949, 4.2.1): lengths and integers in their shortest form. The caller gives the
 * keys of a map in the order of their encoded bytes. Of our own because nothing of ours reads CBOR,
 * and an auditor's class path is worth more than these lines.
 */
final class Cbor {
  private static final int UNSIGNED = 0;
  private static final int NEGATIVE = 1;
  private static final int BYTES = 2;
  private static final int TEXT = 3;
  private static final int ARRAY = 4;
  private static final int MAP = 5;
  private static final int TAG = 6;

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();

  byte[] toBytes() {
    return out.toByteArray();
  }

  Cbor integer(int value) {
    return value >= 0 ? head(UNSIGNED, value) : head(NEGATIVE, -1 - value);
  }

  Cbor bytes(byte[] value) {
    head(BYTES, value.length).out.writeBytes(value);
    return this;
  }

  Cbor text(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    head(TEXT, utf8.length).out.writeBytes(utf8);
    return this;
  }

  /** An array, whose items are written next. */
  Cbor array(int items) {
    return head(ARRAY, items);
  }

  /** A map, whose keys and values are written next. */
  Cbor map(int entries) {
    return head(MAP, entries);
  }

  /** A tag on the item that is written next. */
  Cbor tag(int number) {
    return head(TAG, number);
  }

  private Cbor head(int major, int argument) {
    int type = major << 5;
    if (argument < 24) {
      out.write(type | argument);
    } else if (argument < 1 << 8) {
      out.write(type | 24);
      out.write(argument);
    } else if (argument < 1 << 16) {
      out.write(type | 25);
      out.write(argument >>> 8);
      out.write(argument);
    } else {
      out.write(type | 26);
      out.write(argument >>> 24);
      out.write(argument >>> 16);
      out.write(argument >>> 8);
      out.write(argument);
    }
    return this;
  }
}
