package dev.writ.replay.export;

import dev.writ.replay.export.parquet.ParquetColumn;
import dev.writ.replay.export.parquet.ParquetFile;
import dev.writ.verify.bundle.Bundle;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** The table of outcomes as a file of Apache Parquet. */
public final class ParquetTable {
  /** The name of the format, as the command line takes it. */
  public static final String NAME = "parquet";

  private ParquetTable() {}

  /**
   * Writes the outcomes of a verified bundle in the order of the log, with no more of them in
   * memory than a group of rows has.
   *
   * @return how many there are
   */
  public static long write(Bundle bundle, OutputStream out) throws IOException {
    ParquetFile file =
        new ParquetFile(
            out,
            OutcomeColumn.ALL.stream()
                .map(column -> new ParquetColumn(column.name(), column.kind(), column.isOptional()))
                .toList());
    long[] outcomes = {0};
    ExportedOutcome.each(
        bundle,
        outcome -> {
          try {
            file.row(row(outcome));
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
          outcomes[0]++;
        });
    file.end();
    return outcomes[0];
  }

  private static List<? extends Optional<?>> row(ExportedOutcome outcome) {
    return OutcomeColumn.ALL.stream().map(column -> value(column.value().apply(outcome))).toList();
  }

  private static Optional<?> value(Optional<?> value) {
    return value.map(v -> v instanceof Instant time ? (Object) time.toEpochMilli() : v);
  }
}
