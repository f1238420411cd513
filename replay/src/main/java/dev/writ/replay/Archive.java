package dev.writ.replay;

import dev.writ.canonicalize.WritException;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * A ZIP file in one form (spec/bundle.md): stored, not compressed; entries sorted by name; one
 * fixed time; no comments, extra fields, folders or links. The same entries are the same bytes, and
 * what is read must be exactly what writing its entries again gives. So nothing hides between
 * entries, no byte is without meaning, and nothing can grow when it is unpacked.
 */
final class Archive {
  /** Of the whole file; it is held in memory. */
  static final int BYTES_MAX = 1 << 30;

  /** What a ZIP without its 64-bit extension can count. */
  static final int ENTRIES_MAX = 65_534;

  private static final int NAME_MAX = 512;

  /**
   * Relative, lower-case folders, no part that begins with a dot: nothing leads out of a folder.
   */
  private static final Pattern NAME =
      Pattern.compile("(?:[A-Za-z0-9_][A-Za-z0-9._+-]*/){0,4}[A-Za-z0-9_][A-Za-z0-9._+-]*");

  private static final int LOCAL = 0x04034b50;
  private static final int CENTRAL = 0x02014b50;
  private static final int END = 0x06054b50;
  private static final int LOCAL_BYTES = 30;
  private static final int CENTRAL_BYTES = 46;
  private static final int END_BYTES = 22;

  /** ZIP 1.0: stored entries only. */
  private static final short VERSION = 10;

  /** 1980-01-01T00:00:00, the first time that ZIP can write. */
  private static final short TIME = 0;

  private static final short DATE = 0x21;

  private Archive() {}

  /**
   * Checks a name that is made up from what the run holds.
   *
   * @throws WritException {@code RPL-013}
   */
  static String name(String name) {
    if (name.length() > NAME_MAX || !NAME.matcher(name).matches()) {
      throw new WritException(ReplayError.ENTRY_NAME, shown(name));
    }
    return name;
  }

  /**
   * @throws WritException {@code RPL-012}, {@code RPL-013}
   */
  static byte[] write(SortedMap<String, byte[]> entries) {
    long bytes = END_BYTES;
    for (var entry : entries.entrySet()) {
      name(entry.getKey());
      bytes += LOCAL_BYTES + CENTRAL_BYTES + 2L * entry.getKey().length() + entry.getValue().length;
    }
    requireBounds(bytes, entries.size());
    ByteBuffer out = ByteBuffer.allocate((int) bytes).order(ByteOrder.LITTLE_ENDIAN);
    ByteArrayOutputStream directory = new ByteArrayOutputStream();
    for (var entry : entries.entrySet()) {
      byte[] name = entry.getKey().getBytes(StandardCharsets.US_ASCII);
      int offset = out.position();
      out.putInt(LOCAL);
      out.put(common(name, entry.getValue())).put(name).put(entry.getValue());
      directory.writeBytes(central(name, entry.getValue(), offset));
    }
    int start = out.position();
    out.put(directory.toByteArray());
    short count = (short) entries.size();
    out.putInt(END).putShort((short) 0).putShort((short) 0).putShort(count).putShort(count);
    out.putInt(directory.size()).putInt(start).putShort((short) 0);
    return out.array();
  }

  /** What the local and the central header have in common: version to length of extra fields. */
  private static byte[] common(byte[] name, byte[] content) {
    CRC32 crc = new CRC32();
    crc.update(content);
    return ByteBuffer.allocate(26)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putShort(VERSION)
        .putShort((short) 0)
        .putShort((short) 0)
        .putShort(TIME)
        .putShort(DATE)
        .putInt((int) crc.getValue())
        .putInt(content.length)
        .putInt(content.length)
        .putShort((short) name.length)
        .putShort((short) 0)
        .array();
  }

  private static byte[] central(byte[] name, byte[] content, int offset) {
    return ByteBuffer.allocate(CENTRAL_BYTES + name.length)
        .order(ByteOrder.LITTLE_ENDIAN)
        .putInt(CENTRAL)
        .putShort(VERSION)
        .put(common(name, content))
        .putShort((short) 0)
        .putShort((short) 0)
        .putShort((short) 0)
        .putInt(0)
        .putInt(offset)
        .put(name)
        .array();
  }

  /**
   * @throws WritException {@code RPL-010} to {@code RPL-015}
   */
  static SortedMap<String, byte[]> read(byte[] file) {
    requireBounds(file.length, 0);
    if (file.length < END_BYTES) {
      throw new WritException(ReplayError.ARCHIVE_TRUNCATED, file.length + " bytes");
    }
    ByteBuffer in = ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN);
    if (in.getInt(0) != LOCAL) {
      throw new WritException(ReplayError.ARCHIVE_FORM, "it does not begin as a ZIP file does");
    }
    TreeMap<String, byte[]> entries = new TreeMap<>();
    List<Long> checksums = new ArrayList<>();
    String before = "";
    while (in.remaining() >= Integer.BYTES && in.getInt(in.position()) == LOCAL) {
      before = entry(in, entries, checksums, before);
    }
    int end = file.length - END_BYTES;
    if (in.getInt(end) != END) {
      throw new WritException(
          ReplayError.ARCHIVE_TRUNCATED, "the last " + END_BYTES + " bytes are not its end record");
    }
    requireChecksums(entries, checksums);
    byte[] again = write(entries);
    if (!Arrays.equals(again, file)) {
      int at = Arrays.mismatch(again, file);
      throw new WritException(
          ReplayError.ARCHIVE_FORM,
          "byte "
              + at
              + " of "
              + file.length
              + " is not what the "
              + entries.size()
              + " entries give, which are "
              + again.length
              + " bytes");
    }
    return Collections.unmodifiableSortedMap(entries);
  }

  /** Reads one entry; returns its name. */
  private static String entry(
      ByteBuffer in, TreeMap<String, byte[]> entries, List<Long> checksums, String before) {
    int at = in.position();
    if (in.remaining() < LOCAL_BYTES) {
      throw new WritException(ReplayError.ARCHIVE_TRUNCATED, "in the header at byte " + at);
    }
    int nameLength = in.getShort(at + 26) & 0xffff;
    if (in.remaining() - LOCAL_BYTES < nameLength) {
      throw new WritException(ReplayError.ARCHIVE_TRUNCATED, "in the name at byte " + at);
    }
    in.position(at + LOCAL_BYTES);
    byte[] nameBytes = new byte[nameLength];
    in.get(nameBytes);
    String name = name(new String(nameBytes, StandardCharsets.ISO_8859_1));
    int flags = in.getShort(at + 6) & 0xffff;
    int method = in.getShort(at + 8) & 0xffff;
    int extraLength = in.getShort(at + 28) & 0xffff;
    if (method != 0 || flags != 0 || extraLength != 0) {
      throw new WritException(
          ReplayError.ARCHIVE_FORM,
          "the entry at byte "
              + at
              + " has method "
              + method
              + ", flags "
              + flags
              + ", extra bytes "
              + extraLength
              + "; all are 0 here (stored)");
    }
    long size = in.getInt(at + 22) & 0xffff_ffffL;
    if (in.remaining() < size) {
      throw new WritException(
          ReplayError.ARCHIVE_TRUNCATED,
          "the entry at byte " + at + " has " + size + " bytes, left are " + in.remaining());
    }
    byte[] content = new byte[(int) size];
    in.get(content);
    if (entries.put(name, content) != null) {
      throw new WritException(ReplayError.ENTRY_TWICE, name);
    }
    if (name.compareTo(before) <= 0) {
      throw new WritException(ReplayError.ARCHIVE_FORM, name + " stands behind " + before);
    }
    requireBounds(0, entries.size());
    checksums.add(in.getInt(at + 14) & 0xffff_ffffL);
    return name;
  }

  /** Named apart from the form, since it tells a damaged disk from a forger. */
  private static void requireChecksums(SortedMap<String, byte[]> entries, List<Long> stated) {
    int i = 0;
    for (var entry : entries.entrySet()) {
      CRC32 crc = new CRC32();
      crc.update(entry.getValue());
      long said = stated.get(i++);
      if (crc.getValue() != said) {
        throw new WritException(
            ReplayError.ENTRY_CHECKSUM,
            entry.getKey()
                + " has "
                + Long.toHexString(crc.getValue())
                + ", its header says "
                + Long.toHexString(said));
      }
    }
  }

  private static void requireBounds(long bytes, int entries) {
    if (bytes > BYTES_MAX || entries > ENTRIES_MAX) {
      throw new WritException(
          ReplayError.ARCHIVE_BOUNDS,
          bytes + " bytes, " + entries + " entries; at most " + BYTES_MAX + ", " + ENTRIES_MAX);
    }
  }

  private static String shown(String name) {
    String cut = name.length() > 80 ? name.substring(0, 80) + "…" : name;
    return "\"" + cut.replaceAll("[^\\x20-\\x7e…]", "?") + "\"";
  }
}
