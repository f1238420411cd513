package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.CRC32;

/**
 * Writes an {@link Archive}, entry after entry in the order of their names. An entry's header is
 * completed after its content was written. The directory is made from the headers at the end, so
 * only their offsets are kept in memory.
 */
final class ArchiveWriter {
  /** Writes an entry's content. */
  @FunctionalInterface
  interface Content {
    void writeTo(OutputStream out) throws IOException;
  }

  private final PositionedTarget target;
  private final CompactOffsets offsets = new CompactOffsets();
  private long at;
  private String before = "";

  ArchiveWriter(PositionedTarget target) {
    this.target = target;
  }

  void entry(String name, byte[] content) {
    entry(name, out -> out.write(content));
  }

  /**
   * @throws WritException {@code RPL-012}, {@code RPL-013}, {@code RPL-016}
   */
  void entry(String name, Content content) {
    ArchiveForm.name(name);
    if (name.compareTo(before) <= 0) {
      throw new IllegalArgumentException(name + " behind " + before);
    }
    before = name;
    ArchiveForm.requireBounds(at, offsets.size() + 1L);
    offsets.add(at);
    byte[] nameBytes = name.getBytes(StandardCharsets.US_ASCII);
    long header = at;
    at += ArchiveForm.LOCAL_BYTES + nameBytes.length;
    long start = at;
    CRC32 crc = new CRC32();
    try (OutputStream out = new BufferedOutputStream(new Appending(crc), 1 << 16)) {
      content.writeTo(out);
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
    ArchiveForm.requireContentBounds(name, at - start);
    put(header, ArchiveForm.local(nameBytes, (int) crc.getValue(), at - start));
  }

  private final class Appending extends OutputStream {
    private final CRC32 crc;

    Appending(CRC32 crc) {
      this.crc = crc;
    }

    @Override
    public void write(int b) {
      write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) {
      ArchiveForm.requireBounds(at + length, 0);
      target.write(at, bytes, from, length);
      crc.update(bytes, from, length);
      at += length;
    }
  }

  private void put(long place, byte[] bytes) {
    target.write(place, bytes, 0, bytes.length);
  }

  /**
   * Writes the directory.
   *
   * @throws WritException {@code RPL-012}, {@code RPL-016}
   */
  void end() {
    long start = at;
    ForwardReader locals = new ForwardReader(target);
    try (OutputStream out = new BufferedOutputStream(new Appending(new CRC32()), 1 << 16)) {
      for (int i = 0; i < offsets.size(); i++) {
        long offset = offsets.get(i);
        ByteBuffer header = locals.at(offset, ArchiveForm.LOCAL_BYTES);
        header.order(ByteOrder.LITTLE_ENDIAN);
        int crc = header.getInt(14);
        long size = header.getInt(22) & 0xffff_ffffL;
        byte[] name = new byte[header.getShort(26) & 0xffff];
        locals.at(offset + ArchiveForm.LOCAL_BYTES, name.length).get(name);
        out.write(ArchiveForm.central(name, crc, size, offset));
      }
    } catch (IOException e) {
      throw PositionedSource.failed(e);
    }
    byte[] end = ArchiveForm.end(offsets.size(), start, at);
    ArchiveForm.requireBounds(at + end.length, 0);
    put(at, end);
  }
}
