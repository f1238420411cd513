package dev.writ.replay.export.parquet;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Writes a flat table as a file of Apache Parquet, group by group, so that the memory that it takes
 * does not grow with the table. The same rows give the same bytes. What is written without {@link
 * #end} is no file of Parquet.
 */
public final class ParquetFile {
  /** Rows of a group, all of which are in memory until it is written. */
  public static final int GROUP_ROWS = 32_768;

  private static final byte[] MAGIC = "PAR1".getBytes(StandardCharsets.US_ASCII);
  private static final int VERSION = 1;

  private final OutputStream out;
  private final List<ParquetColumn> columns;
  private final List<ColumnBuffer> buffers;

  /** The RowGroup of each group that is written, as the footer has it. */
  private final List<byte[]> groups = new ArrayList<>();

  private int buffered;
  private long rows;
  private long length;

  /**
   * @param out gets the file; it is neither buffered nor closed here
   */
  public ParquetFile(OutputStream out, List<ParquetColumn> columns) throws IOException {
    this.out = out;
    this.columns = List.copyOf(columns);
    this.buffers = columns.stream().map(ColumnBuffer::new).toList();
    write(MAGIC);
  }

  /**
   * Adds a row.
   *
   * @param values one for each column: a {@link String} or {@link Long}, by the column's kind
   */
  public void row(List<? extends Optional<?>> values) throws IOException {
    for (int i = 0; i < buffers.size(); i++) {
      buffers.get(i).add(values.get(i));
    }
    buffered++;
    rows++;
    if (buffered == GROUP_ROWS) {
      group();
    }
  }

  /** Writes the rows that are left, and the footer. */
  public void end() throws IOException {
    if (buffered > 0) {
      group();
    }
    byte[] footer = footer();
    write(footer);
    ByteBuffer size = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    write(size.putInt(footer.length).array());
    write(MAGIC);
  }

  private void group() throws IOException {
    ThriftCompact group = new ThriftCompact().begin().structs(1, buffers.size());
    long begin = length;
    for (ColumnBuffer buffer : buffers) {
      length += buffer.writeTo(out, length, group);
    }
    groups.add(group.i64(2, length - begin).i64(3, buffered).end().toBytes());
    buffered = 0;
  }

  /** FileMetaData. */
  private byte[] footer() {
    ThriftCompact footer = new ThriftCompact().begin().i32(1, VERSION);
    footer.structs(2, 1 + columns.size());
    footer.begin().text(4, "schema").i32(5, columns.size()).end();
    columns.forEach(column -> column.writeTo(footer));
    footer.i64(3, rows).structs(4, groups.size());
    groups.forEach(footer::struct);
    footer.text(6, "writ").structs(7, columns.size());
    // Each column has the order of its type: what least and greatest are, is not for readers to
    // guess.
    columns.forEach(_ -> footer.begin().begin(1).end().end());
    return footer.end().toBytes();
  }

  private void write(byte[] bytes) throws IOException {
    out.write(bytes);
    length += bytes.length;
  }
}
