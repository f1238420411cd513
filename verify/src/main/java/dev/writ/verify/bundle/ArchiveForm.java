package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * The one form of a ZIP file that a bundle has (spec/bundle.md): each header follows from an
 * entry's name, checksum, size and offset.
 */
final class ArchiveForm {
  static final long BYTES_MAX = 1L << 40;

  static final int ENTRIES_MAX = 1 << 24;

  /** A number of 32 bits that is this or more has its place in a ZIP64 field or record. */
  static final long ZIP64 = 0xffff_ffffL;

  /** The same for numbers of 16 bits, which count entries. */
  static final int ENTRIES_ZIP64 = 0xffff;

  /** The greatest content of an entry. */
  static final long CONTENT_MAX = ZIP64 - 1;

  static final int NAME_MAX = 2048;

  private static final int PARTS_MAX = 16;

  static final int LOCAL = 0x04034b50;
  static final int CENTRAL = 0x02014b50;
  static final int END = 0x06054b50;
  static final int END_ZIP64 = 0x06064b50;
  static final int LOCATOR = 0x07064b50;
  static final int LOCAL_BYTES = 30;
  static final int CENTRAL_BYTES = 46;
  static final int END_BYTES = 22;
  static final int END_ZIP64_BYTES = 56;
  static final int LOCATOR_BYTES = 20;

  /** All end records together. */
  static final int ENDS_BYTES = END_ZIP64_BYTES + LOCATOR_BYTES + END_BYTES;

  /** ZIP 1.0: stored entries only. */
  private static final short VERSION = 10;

  /** ZIP 4.5: 64-bit fields and records. */
  private static final short VERSION_ZIP64 = 45;

  /** The ZIP64 field of a central header: its id, the bytes that follow, and the offset. */
  private static final short FIELD_ZIP64 = 1;

  private static final int FIELD_ZIP64_BYTES = 2 * Short.BYTES + Long.BYTES;

  /** 1980-01-01T00:00:00, the earliest time in ZIP. */
  private static final short TIME = 0;

  private static final short DATE = 0x21;

  private ArchiveForm() {}

  /**
   * Checks a name: relative, and no part begins with a dot, so no name leads out of a folder.
   * Written by hand because it runs for every entry: a pattern is ten times slower.
   *
   * @throws WritException {@code RPL-013}
   */
  static String name(String name) {
    boolean begins = true;
    int parts = 1;
    boolean isForm = !name.isEmpty() && name.length() <= NAME_MAX;
    for (int i = 0; isForm && i < name.length(); i++) {
      char c = name.charAt(i);
      if (c == '/') {
        isForm = !begins && ++parts <= PARTS_MAX;
        begins = true;
      } else {
        isForm = isWord(c) || !begins && (c == '.' || c == '+' || c == '-');
        begins = false;
      }
    }
    if (!isForm || begins) {
      throw new WritException(BundleError.ENTRY_NAME, shown(name));
    }
    return name;
  }

  private static boolean isWord(char c) {
    return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_';
  }

  static String shown(String name) {
    String cut = name.length() > 80 ? name.substring(0, 80) + "…" : name;
    return "\"" + cut.replaceAll("[^\\x20-\\x7e…]", "?") + "\"";
  }

  /**
   * @throws WritException {@code RPL-012}
   */
  static void requireBounds(long bytes, long entries) {
    if (bytes > BYTES_MAX || entries > ENTRIES_MAX) {
      throw new WritException(
          BundleError.ARCHIVE_BOUNDS,
          bytes + " bytes, " + entries + " entries; at most " + BYTES_MAX + ", " + ENTRIES_MAX);
    }
  }

  /**
   * @throws WritException {@code RPL-012}
   */
  static void requireContentBounds(String name, long bytes) {
    if (bytes > CONTENT_MAX) {
      throw new WritException(
          BundleError.ARCHIVE_BOUNDS, name + " has " + bytes + " bytes, at most " + CONTENT_MAX);
    }
  }

  static byte[] local(byte[] name, int crc, long size) {
    ByteBuffer out = buffer(LOCAL_BYTES + name.length).putInt(LOCAL);
    return common(out, VERSION, name, crc, size, 0).put(name).array();
  }

  static byte[] central(byte[] name, int crc, long size, long offset) {
    boolean zip64 = offset >= ZIP64;
    short version = zip64 ? VERSION_ZIP64 : VERSION;
    int extra = zip64 ? FIELD_ZIP64_BYTES : 0;
    ByteBuffer out = buffer(CENTRAL_BYTES + name.length + extra).putInt(CENTRAL).putShort(version);
    common(out, version, name, crc, size, extra)
        .putShort((short) 0)
        .putShort((short) 0)
        .putShort((short) 0)
        .putInt(0)
        .putInt((int) Math.min(offset, ZIP64))
        .put(name);
    if (zip64) {
      out.putShort(FIELD_ZIP64).putShort((short) Long.BYTES).putLong(offset);
    }
    return out.array();
  }

  /**
   * The common part of the local and the central header: from the version to the length of extra
   * fields.
   */
  private static ByteBuffer common(
      ByteBuffer out, short version, byte[] name, int crc, long size, int extra) {
    return out.putShort(version)
        .putShort((short) 0)
        .putShort((short) 0)
        .putShort(TIME)
        .putShort(DATE)
        .putInt(crc)
        .putInt((int) size)
        .putInt((int) size)
        .putShort((short) name.length)
        .putShort((short) extra);
  }

  /** Everything after the directory, which begins at {@code start} and ends at {@code end}. */
  static byte[] end(int entries, long start, long end) {
    boolean zip64 = needsZip64(entries, start, end);
    ByteBuffer out = buffer(endBytes(entries, start, end));
    if (zip64) {
      out.putInt(END_ZIP64).putLong(END_ZIP64_BYTES - 12);
      out.putShort(VERSION_ZIP64).putShort(VERSION_ZIP64).putInt(0).putInt(0);
      out.putLong(entries).putLong(entries).putLong(end - start).putLong(start);
      out.putInt(LOCATOR).putInt(0).putLong(end).putInt(1);
    }
    short count = (short) Math.min(entries, ENTRIES_ZIP64);
    out.putInt(END).putShort((short) 0).putShort((short) 0).putShort(count).putShort(count);
    out.putInt((int) Math.min(end - start, ZIP64)).putInt((int) Math.min(start, ZIP64));
    return out.putShort((short) 0).array();
  }

  static int endBytes(int entries, long start, long end) {
    return END_BYTES + (needsZip64(entries, start, end) ? END_ZIP64_BYTES + LOCATOR_BYTES : 0);
  }

  private static boolean needsZip64(int entries, long start, long end) {
    return entries >= ENTRIES_ZIP64 || start >= ZIP64 || end - start >= ZIP64;
  }

  /**
   * Where the directory begins, as the end of the file states it, which is not checked here.
   *
   * @param end the last bytes of the file, as many as {@link #ENDS_BYTES} if it has them
   */
  static long start(ByteBuffer end) {
    int record = end.capacity() - END_BYTES;
    long stated = Integer.toUnsignedLong(end.getInt(record + 16));
    boolean zip64 = stated == ZIP64 && end.capacity() == ENDS_BYTES;
    return zip64 ? end.getLong(48) : stated;
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }
}
