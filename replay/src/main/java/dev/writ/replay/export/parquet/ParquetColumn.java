package dev.writ.replay.export.parquet;

/**
 * A column of a flat table.
 *
 * @param isOptional whether a row may lack a value
 */
public record ParquetColumn(String name, Kind kind, boolean isOptional) {
  /** What the values of a column are. */
  public enum Kind {
    /** A {@link String}: BYTE_ARRAY, annotated as STRING. */
    TEXT(6),
    /** A {@link Long} of milliseconds since 1970 in UTC: INT64, annotated as TIMESTAMP. */
    TIME(2),
    /** A {@link Long}: INT64. */
    NUMBER(2);

    private final int physical;

    Kind(int physical) {
      this.physical = physical;
    }

    /** The physical type's number. */
    int physical() {
      return physical;
    }
  }

  private static final int REQUIRED = 0;
  private static final int OPTIONAL = 1;
  private static final int UTF8 = 0;
  private static final int TIMESTAMP_MILLIS = 9;

  /** Its SchemaElement. The older annotations are there too: some readers know only these. */
  void writeTo(ThriftCompact out) {
    out.begin();
    out.i32(1, kind.physical());
    out.i32(3, isOptional ? OPTIONAL : REQUIRED);
    out.text(4, name);
    switch (kind) {
      case TEXT -> {
        out.i32(6, UTF8);
        out.begin(10).begin(1).end().end();
      }
      case TIME -> {
        out.i32(6, TIMESTAMP_MILLIS);
        out.begin(10).begin(8).bool(1, true).begin(2).begin(1).end().end().end().end();
      }
      case NUMBER -> {
        // INT64 says it all.
      }
    }
    out.end();
  }
}
