package dev.writ.conform.world;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.SortedMap;
import java.util.zip.CRC32;
import java.util.zip.Deflater;

/**
 * Packs entries as ZIP tools do and a bundle must not: compressed, with flags, dates, extra fields,
 * comments, in another order, twice, hidden from the directory, under other names.
 */
final class ArchiveChanges {
  private static final List<String> NAMES =
      List.of(
          "../x", "/x", "a//b", "A", "journal/run.jsonl/", ".x", "x\\y", "log/", "\u00e9", "blobs");

  private final Random random;
  String what = "";

  ArchiveChanges(Random random) {
    this.random = random;
  }

  /** An entry as it is written down; fields are those of the two headers. */
  private static final class Packed {
    byte[] name;
    byte[] content;
    byte[] stored;
    int method;
    int flags;
    int time;
    int date = 0x21;
    int version = 10;
    int crc;
    int sizeDiffers;
    byte[] extra = {};
    byte[] behind = {};
    int centralDiffers = -1;
    boolean listed = true;
    boolean there = true;
  }

  private static Packed packed(String name, byte[] content) {
    Packed packed = new Packed();
    packed.name = name.getBytes(StandardCharsets.ISO_8859_1);
    packed.content = content;
    packed.stored = content;
    CRC32 crc = new CRC32();
    crc.update(content);
    packed.crc = (int) crc.getValue();
    return packed;
  }

  byte[] pack(SortedMap<String, byte[]> entries) {
    List<Packed> list = new ArrayList<>();
    entries.forEach((name, content) -> list.add(packed(name, content)));
    int way = random.nextInt(20);
    int at = random.nextInt(list.size());
    Packed one = list.get(at);
    what = "archive " + way + " at " + new String(one.name, StandardCharsets.ISO_8859_1);
    switch (way) {
      case 0 -> deflate(one);
      case 1 -> one.flags = 1 << random.nextInt(16);
      case 2 -> one.time = random.nextInt(1 << 16);
      case 3 -> one.date = random.nextInt(1 << 16);
      case 4 -> one.version = random.nextInt(64);
      case 5 -> one.crc ^= 1 << random.nextInt(32);
      case 6 -> one.sizeDiffers = random.nextInt(5) - 2;
      case 7 -> one.extra = new byte[] {1, 0, 0, 0};
      case 8 -> one.behind = new byte[1 + random.nextInt(20)];
      case 9 -> one.centralDiffers = random.nextInt(46);
      case 10 -> one.listed = false;
      case 11 -> one.there = false;
      case 12 -> list.add(random.nextInt(list.size() + 1), one);
      case 13 -> list.add(random.nextInt(list.size()), list.remove(at));
      case 14 -> list.add(at, packed(NAMES.get(random.nextInt(NAMES.size())), one.content));
      case 15 -> list.set(at, packed(NAMES.get(random.nextInt(NAMES.size())), one.content));
      case 16 -> descriptor(one);
      case 17 -> one.method = 1 + random.nextInt(99);
      default -> {
        // the end of the file below
      }
    }
    return whole(list, way);
  }

  private static void deflate(Packed one) {
    Deflater deflater = new Deflater(9, true);
    deflater.setInput(one.content);
    deflater.finish();
    byte[] out = new byte[one.content.length + 100];
    one.stored = Arrays.copyOf(out, deflater.deflate(out));
    deflater.end();
    one.method = 8;
    one.version = 20;
  }

  /** Sizes and checksum behind the content, as streaming writers do. */
  private static void descriptor(Packed one) {
    one.flags = 8;
    one.behind =
        ByteBuffer.allocate(16)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(0x08074b50)
            .putInt(one.crc)
            .putInt(one.content.length)
            .putInt(one.content.length)
            .array();
  }

  private byte[] whole(List<Packed> list, int way) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ByteArrayOutputStream directory = new ByteArrayOutputStream();
    int listed = 0;
    for (Packed one : list) {
      int at = out.size();
      if (one.there) {
        out.writeBytes(local(one));
        out.writeBytes(one.name);
        out.writeBytes(one.extra);
        out.writeBytes(one.stored);
        out.writeBytes(one.behind);
      }
      if (one.listed) {
        byte[] central = central(one, at);
        if (one.centralDiffers >= 0) {
          central[one.centralDiffers] ^= (byte) (1 << random.nextInt(8));
        }
        directory.writeBytes(central);
        listed++;
      }
    }
    int start = out.size();
    out.writeBytes(directory.toByteArray());
    byte[] comment = way == 18 ? new byte[1 + random.nextInt(30)] : new byte[0];
    ByteBuffer end = ByteBuffer.allocate(22).order(ByteOrder.LITTLE_ENDIAN).putInt(0x06054b50);
    end.putInt(0).putShort((short) listed).putShort((short) listed);
    end.putInt(directory.size()).putInt(start).putShort((short) comment.length);
    byte[] record = end.array();
    if (way == 19) {
      record[random.nextInt(22)] ^= (byte) (1 << random.nextInt(8));
    }
    out.writeBytes(record);
    out.writeBytes(comment);
    return out.toByteArray();
  }

  private static byte[] local(Packed one) {
    ByteBuffer header = ByteBuffer.allocate(30).order(ByteOrder.LITTLE_ENDIAN).putInt(0x04034b50);
    return common(header, one).array();
  }

  private static byte[] central(Packed one, int at) {
    ByteBuffer header =
        ByteBuffer.allocate(46 + one.name.length + one.extra.length)
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(0x02014b50)
            .putShort((short) one.version);
    common(header, one).putShort((short) 0).putInt(0).putInt(0).putInt(at);
    return header.put(one.name).put(one.extra).array();
  }

  private static ByteBuffer common(ByteBuffer header, Packed one) {
    return header
        .putShort((short) one.version)
        .putShort((short) one.flags)
        .putShort((short) one.method)
        .putShort((short) one.time)
        .putShort((short) one.date)
        .putInt(one.crc)
        .putInt(one.stored.length + one.sizeDiffers)
        .putInt(one.content.length + one.sizeDiffers)
        .putShort((short) one.name.length)
        .putShort((short) one.extra.length);
  }
}
