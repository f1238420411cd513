package dev.writ.replay.export.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.hardwood.InputFile;
import dev.hardwood.metadata.Encoding;
import dev.hardwood.metadata.LogicalType;
import dev.hardwood.metadata.RepetitionType;
import dev.hardwood.metadata.RowGroup;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.reader.RowReader;
import dev.hardwood.schema.ColumnSchema;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Hardwood shares no code with Writ, nor with the other implementations of Parquet. */
class AnotherLibraryReadsFilesOfParquetTest {
  @TempDir Path dir;

  private static byte[] bytes(long rows) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ManyRows.write(rows, out);
    return out.toByteArray();
  }

  private Path file(long rows) throws IOException {
    return Files.write(dir.resolve(rows + ".parquet"), bytes(rows));
  }

  /** Reads all rows, each of which must be as it was written. */
  private static void requireRows(Path file, long rows) throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(file))) {
      assertThat(reader.getFileMetaData().numRows()).isEqualTo(rows);
      long read = 0;
      try (RowReader row = reader.rowReader()) {
        while (row.hasNext()) {
          row.next();
          if (!values(row).equals(ManyRows.row(read))) {
            assertThat(values(row)).as("row " + read).isEqualTo(ManyRows.row(read));
          }
          read++;
        }
      }
      assertThat(read).isEqualTo(rows);
    }
  }

  private static List<Optional<?>> values(RowReader row) {
    List<Optional<?>> values = new ArrayList<>();
    for (int i = 0; i < ManyRows.COLUMNS.size(); i++) {
      values.add(row.isNull(i) ? Optional.empty() : Optional.of(value(row, i)));
    }
    return values;
  }

  private static Object value(RowReader row, int column) {
    return switch (ManyRows.COLUMNS.get(column).kind()) {
      case TEXT -> row.getString(column);
      case TIME -> row.getTimestamp(column).toEpochMilli();
      case NUMBER -> row.getLong(column);
    };
  }

  /** None, one, fewer than a byte of levels has, a group, one more, and several groups. */
  @ParameterizedTest
  @ValueSource(longs = {0, 1, 2, 7, 8, 9, 4096, 32_768, 32_769, 100_000})
  void everyValueIsReadAsItWasWritten(long rows) throws IOException {
    Path file = file(rows);
    requireRows(file, rows);
    try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(file))) {
      List<RowGroup> groups = reader.getFileMetaData().rowGroups();
      assertThat(groups).hasSize((int) ((rows + 32_767) / 32_768));
      assertThat(groups.stream().mapToLong(RowGroup::numRows).sum()).isEqualTo(rows);
    }
  }

  @Test
  void theSameRowsGiveTheSameBytes() throws IOException {
    assertThat(bytes(40_000)).isEqualTo(bytes(40_000));
  }

  @Test
  void theSchemaSaysWhatTheValuesAre() throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(file(0)))) {
      List<ColumnSchema> columns = reader.getFileSchema().getColumns();
      assertThat(columns.stream().map(ColumnSchema::name))
          .isEqualTo(ManyRows.COLUMNS.stream().map(ParquetColumn::name).toList());
      for (int i = 0; i < columns.size(); i++) {
        ParquetColumn wanted = ManyRows.COLUMNS.get(i);
        assertThat(columns.get(i).repetitionType())
            .isEqualTo(wanted.isOptional() ? RepetitionType.OPTIONAL : RepetitionType.REQUIRED);
        switch (wanted.kind()) {
          case TEXT ->
              assertThat(columns.get(i).logicalType()).isInstanceOf(LogicalType.StringType.class);
          case TIME ->
              assertThat(columns.get(i).logicalType())
                  .isEqualTo(new LogicalType.TimestampType(true, LogicalType.TimeUnit.MILLIS));
          case NUMBER -> assertThat(columns.get(i).logicalType()).isNull();
        }
      }
    }
  }

  @Test
  void aColumnOfFewTextsHasADictionaryAndOneOfManyHasNone() throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(file(40_000)))) {
      for (RowGroup group : reader.getFileMetaData().rowGroups()) {
        List<List<Encoding>> encodings =
            group.columns().stream().map(chunk -> chunk.metaData().encodings()).toList();
        assertThat(encodings.get(1)).contains(Encoding.RLE_DICTIONARY);
        assertThat(encodings.get(3)).doesNotContain(Encoding.RLE_DICTIONARY);
      }
    }
  }

  /** By which a reader that looks for a time leaves out the groups that do not have it. */
  @Test
  void groupsSayTheirLeastAndGreatestNumberAndHowManyAreMissing() throws IOException {
    try (ParquetFileReader reader = ParquetFileReader.open(InputFile.of(file(40_000)))) {
      RowGroup second = reader.getFileMetaData().rowGroups().get(1);
      var time = second.columns().getFirst().metaData().statistics();
      assertThat(number(time.minValue())).isEqualTo(ManyRows.row(32_768).getFirst().get());
      assertThat(number(time.maxValue())).isEqualTo(ManyRows.row(39_999).getFirst().get());
      assertThat(time.nullCount()).isZero();
      assertThat(second.columns().get(5).metaData().statistics().nullCount())
          .isEqualTo(second.numRows());
    }
  }

  private static long number(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).getLong();
  }

  /** All rows together are many times the heap that it has. */
  @Test
  void aMillionRowsAreWrittenInLittleMemory() throws Exception {
    long rows = 1_000_000;
    Path file = dir.resolve("million.parquet");
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx40m",
                "-cp",
                System.getProperty(
                    "surefire.test.class.path", System.getProperty("java.class.path")),
                ManyRows.class.getName(),
                file.toString(),
                String.valueOf(rows))
            .redirectErrorStream(true)
            .start();
    String said = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(java.waitFor()).as(said).isZero();
    assertThat(Files.size(file)).isGreaterThan(2 * 40_000_000L);
    requireRows(file, rows);
  }

  @Test
  void aRequiredValueThatIsMissingIsRefused() throws IOException {
    ParquetFile file = new ParquetFile(OutputStream.nullOutputStream(), ManyRows.COLUMNS);
    List<Optional<?>> row = new ArrayList<>(ManyRows.row(1));
    row.set(0, Optional.empty());
    assertThatThrownBy(() -> file.row(row)).hasMessageContaining("time");
  }

  @Test
  void timesBefore1970AndAfter2262AreKept() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    ParquetFile file =
        new ParquetFile(out, List.of(new ParquetColumn("t", ParquetColumn.Kind.TIME, false)));
    List<Instant> times =
        List.of(
            Instant.parse("1900-01-01T00:00:00.001Z"), Instant.parse("9999-12-31T23:59:59.999Z"));
    for (Instant time : times) {
      file.row(List.of(Optional.of(time.toEpochMilli())));
    }
    file.end();
    List<Instant> read = new ArrayList<>();
    try (ParquetFileReader reader =
            ParquetFileReader.open(InputFile.of(ByteBuffer.wrap(out.toByteArray())));
        RowReader row = reader.rowReader()) {
      while (row.hasNext()) {
        row.next();
        read.add(row.getTimestamp(0));
      }
    }
    assertThat(read).isEqualTo(times);
  }
}
