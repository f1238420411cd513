package dev.writ.replay.export.parquet;

import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A table with as many rows as asked for, which look like those of outcomes. */
final class ManyRows {
  static final List<ParquetColumn> COLUMNS =
      List.of(
          new ParquetColumn("time", ParquetColumn.Kind.TIME, false),
          new ParquetColumn("status", ParquetColumn.Kind.TEXT, false),
          new ParquetColumn("code", ParquetColumn.Kind.TEXT, true),
          new ParquetColumn("document", ParquetColumn.Kind.TEXT, false),
          new ParquetColumn("finished_at", ParquetColumn.Kind.TIME, true),
          new ParquetColumn("note", ParquetColumn.Kind.TEXT, true),
          new ParquetColumn("lamport", ParquetColumn.Kind.NUMBER, true));

  private static final String[] STATUS = {"succeeded", "failed", "verweigert – nein", "拒否 🛑"};

  private ManyRows() {}

  static List<Optional<?>> row(long i) {
    return List.of(
        Optional.of(1_790_000_000_000L + 7 * i),
        Optional.of(STATUS[(int) (i % STATUS.length)]),
        i % 3 == 0 ? Optional.empty() : Optional.of("GRD-" + i % 5),
        Optional.of("sha256:" + ("%064x").formatted(i * 0x9e3779b97f4a7c15L)),
        i % 2 == 0 ? Optional.empty() : Optional.of(-i),
        Optional.empty(),
        i < 40_000 ? Optional.of(Long.MAX_VALUE - i) : Optional.empty());
  }

  static void write(long rows, OutputStream out) throws IOException {
    ParquetFile file = new ParquetFile(out, COLUMNS);
    for (long i = 0; i < rows; i++) {
      file.row(row(i));
    }
    file.end();
  }

  /** In a process of its own, whose heap the test sets. */
  public static void main(String[] arguments) throws IOException {
    try (OutputStream out =
        new BufferedOutputStream(Files.newOutputStream(Path.of(arguments[0])))) {
      write(Long.parseLong(arguments[1]), out);
    }
  }
}
