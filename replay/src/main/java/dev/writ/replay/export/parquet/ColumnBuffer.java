package dev.writ.replay.export.parquet;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.zip.CRC32;
import java.util.zip.CheckedOutputStream;

/** The values of one column in a group of rows, until they are written as a column chunk. */
final class ColumnBuffer {
  /** With more different texts than this, a dictionary is given up. */
  private static final int DICTIONARY_MAX = 4096;

  // Parquet's numbers of encodings, pages and codecs.
  private static final int PLAIN = 0;
  private static final int RLE = 3;
  private static final int RLE_DICTIONARY = 8;
  private static final int DATA_PAGE = 0;
  private static final int DICTIONARY_PAGE = 2;
  private static final int UNCOMPRESSED = 0;

  private final ParquetColumn column;
  private final ByteArrayOutputStream plain = new ByteArrayOutputStream();
  private final SmallNumbers present = new SmallNumbers();
  private int rows;
  private int values;

  private final Map<String, Integer> places = new LinkedHashMap<>();
  private final ByteArrayOutputStream dictionary = new ByteArrayOutputStream();
  private final SmallNumbers indices = new SmallNumbers();

  private long least;
  private long greatest;

  ColumnBuffer(ParquetColumn column) {
    this.column = column;
  }

  /**
   * @param value a {@link String} or {@link Long}, by the column's kind
   */
  void add(Optional<?> value) {
    if (value.isEmpty() && !column.isOptional()) {
      throw new IllegalArgumentException("no value for " + column.name());
    }
    rows++;
    present.add(value.isPresent() ? 1 : 0);
    if (value.isPresent()) {
      if (column.kind() == ParquetColumn.Kind.TEXT) {
        text((String) value.get());
      } else {
        number((Long) value.get());
      }
      values++;
    }
  }

  private void text(String value) {
    byte[] utf8 = value.getBytes(StandardCharsets.UTF_8);
    text(utf8, plain);
    if (places.size() <= DICTIONARY_MAX) {
      Integer place = places.get(value);
      if (place == null) {
        place = places.size();
        places.put(value, place);
        text(utf8, dictionary);
      }
      indices.add(place);
    }
  }

  private static void text(byte[] utf8, ByteArrayOutputStream to) {
    littleEndian(to, utf8.length, Integer.BYTES);
    to.writeBytes(utf8);
  }

  private void number(long value) {
    littleEndian(plain, value, Long.BYTES);
    least = values == 0 ? value : Math.min(least, value);
    greatest = values == 0 ? value : Math.max(greatest, value);
  }

  private static void littleEndian(ByteArrayOutputStream to, long value, int bytes) {
    for (int i = 0; i < bytes; i++) {
      to.write((int) (value >>> Byte.SIZE * i));
    }
  }

  /** A dictionary is worth it where each of its texts is there twice, on average. */
  private boolean hasDictionary() {
    return !places.isEmpty() && places.size() <= DICTIONARY_MAX && 2L * places.size() <= values;
  }

  /**
   * Writes the chunk, and its ColumnChunk into the footer; the buffer is empty then.
   *
   * @param at the file's length so far
   * @return bytes written
   */
  long writeTo(OutputStream out, long at, ThriftCompact footer) throws IOException {
    boolean hasDictionary = hasDictionary();
    long before = 0;
    if (hasDictionary) {
      before = page(out, DICTIONARY_PAGE, places.size(), PLAIN, new byte[0], dictionary);
    }
    long length = before + data(out, hasDictionary);
    footer.begin().i64(2, 0).begin(3);
    footer.i32(1, column.kind().physical());
    if (hasDictionary) {
      footer.i32s(2, PLAIN, RLE, RLE_DICTIONARY);
    } else {
      footer.i32s(2, PLAIN, RLE);
    }
    footer
        .texts(3, column.name())
        .i32(4, UNCOMPRESSED)
        .i64(5, rows)
        .i64(6, length)
        .i64(7, length)
        .i64(9, at + before);
    if (hasDictionary) {
      footer.i64(11, at);
    }
    statistics(footer);
    footer.end().end();
    clear();
    return length;
  }

  private long data(OutputStream out, boolean hasDictionary) throws IOException {
    ByteArrayOutputStream first = new ByteArrayOutputStream();
    if (column.isOptional()) {
      byte[] levels = present.encoded(1);
      littleEndian(first, levels.length, Integer.BYTES);
      first.writeBytes(levels);
    }
    if (!hasDictionary) {
      return page(out, DATA_PAGE, rows, PLAIN, first.toByteArray(), plain);
    }
    int width = SmallNumbers.width(places.size());
    first.write(width);
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    body.writeBytes(indices.encoded(width));
    return page(out, DATA_PAGE, rows, RLE_DICTIONARY, first.toByteArray(), body);
  }

  /** Writes one page, whose content is in two parts. */
  private static long page(
      OutputStream out,
      int type,
      int count,
      int encoding,
      byte[] first,
      ByteArrayOutputStream second)
      throws IOException {
    int size = Math.addExact(first.length, second.size());
    ThriftCompact header = new ThriftCompact().begin();
    header.i32(1, type).i32(2, size).i32(3, size).i32(4, crc(first, second));
    if (type == DICTIONARY_PAGE) {
      header.begin(7).i32(1, count).i32(2, encoding).end();
    } else {
      header.begin(5).i32(1, count).i32(2, encoding).i32(3, RLE).i32(4, RLE).end();
    }
    byte[] bytes = header.end().toBytes();
    out.write(bytes);
    out.write(first);
    second.writeTo(out);
    return bytes.length + size;
  }

  private static int crc(byte[] first, ByteArrayOutputStream second) throws IOException {
    CRC32 crc = new CRC32();
    crc.update(first);
    second.writeTo(new CheckedOutputStream(OutputStream.nullOutputStream(), crc));
    return (int) crc.getValue();
  }

  /** Of numbers also the least and the greatest, by which readers leave out groups of rows. */
  private void statistics(ThriftCompact footer) {
    footer.begin(12).i64(3, rows - values);
    if (column.kind() != ParquetColumn.Kind.TEXT && values > 0) {
      footer.bytes(5, bytes(greatest)).bytes(6, bytes(least));
    }
    footer.end();
  }

  private static byte[] bytes(long value) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    littleEndian(bytes, value, Long.BYTES);
    return bytes.toByteArray();
  }

  private void clear() {
    rows = 0;
    values = 0;
    plain.reset();
    present.clear();
    places.clear();
    dictionary.reset();
    indices.clear();
  }
}
