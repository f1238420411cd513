package dev.writ.conform.world;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;

/** An archive of less than 4 GiB with 64-bit fields that it does not need, as other writers do. */
final class Zip64Forms {
  private static final int ALL_ONES = -1;
  private static final int LOCAL_BYTES = 30;
  private static final int END_BYTES = 22;

  private final byte[] archive;
  private final int end;
  private final int start;
  private final int count;

  Zip64Forms(byte[] archive) {
    this.archive = archive;
    this.end = archive.length - END_BYTES;
    ByteBuffer record = ByteBuffer.wrap(archive).order(ByteOrder.LITTLE_ENDIAN);
    this.count = record.getShort(end + 10);
    this.start = record.getInt(end + 16);
  }

  private static ByteBuffer buffer(int bytes) {
    return ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private byte[] with(int from, int to, byte[] between) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.write(archive, 0, from);
    out.writeBytes(between);
    out.write(archive, to, archive.length - to);
    return out.toByteArray();
  }

  /** The ZIP64 end record and its locator before the end record, which has all numbers, too. */
  byte[] records() {
    ByteBuffer records = buffer(76).putInt(0x06064b50).putLong(44);
    records.putShort((short) 45).putShort((short) 45).putLong(0);
    records.putLong(count).putLong(count).putLong(end - start).putLong(start);
    records.putInt(0x07064b50).putInt(0).putLong(end).putInt(1);
    return with(end, end, records.array());
  }

  /** The same, and the directory's offset is in the ZIP64 end record alone. */
  byte[] recordsForTheOffset() {
    byte[] whole = records();
    Arrays.fill(whole, whole.length - 6, whole.length - 2, (byte) ALL_ONES);
    return whole;
  }

  /** The end record refers to a ZIP64 end record that is not there. */
  byte[] noRecords() {
    byte[] whole = archive.clone();
    Arrays.fill(whole, whole.length - 6, whole.length - 2, (byte) ALL_ONES);
    return whole;
  }

  /** The first central header has its offset in a ZIP64 field. */
  byte[] field() {
    ByteBuffer header = ByteBuffer.wrap(archive.clone()).order(ByteOrder.LITTLE_ENDIAN);
    header.putShort(start + 4, (short) 45).putShort(start + 6, (short) 45);
    header.putShort(start + 30, (short) 12).putInt(start + 42, ALL_ONES);
    header.putInt(end + 12, end - start + 12);
    int behind = start + 46 + header.getShort(start + 28);
    byte[] field = buffer(12).putShort((short) 1).putShort((short) 8).putLong(0).array();
    return new Zip64Forms(header.array()).with(behind, behind, field);
  }

  /** The first local header has its sizes in a ZIP64 field, as of writers to a stream. */
  byte[] sizes() {
    ByteBuffer header = ByteBuffer.wrap(archive.clone()).order(ByteOrder.LITTLE_ENDIAN);
    int size = header.getInt(22);
    header.putInt(18, ALL_ONES).putInt(22, ALL_ONES).putShort(28, (short) 20);
    int behind = LOCAL_BYTES + header.getShort(26);
    byte[] field =
        buffer(20).putShort((short) 1).putShort((short) 16).putLong(size).putLong(size).array();
    return new Zip64Forms(header.array()).with(behind, behind, field);
  }
}
