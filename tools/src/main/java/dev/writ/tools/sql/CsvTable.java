package dev.writ.tools.sql;

import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Makes a table of a CSV file. Its first record names the columns. A column is INTEGER if all its
 * values are integers of 64 bits, else REAL if all are numbers, else TEXT; numbers are written as
 * in JSON, so {@code 007} is a text. A field that is empty and not quoted is NULL.
 */
final class CsvTable {
  private enum Kind {
    INTEGER,
    REAL,
    TEXT
  }

  private final String input;
  private final byte[] bytes;
  private final List<String> columns = new ArrayList<>();
  private final List<Kind> kinds = new ArrayList<>();

  private CsvTable(String input, byte[] bytes) {
    this.input = input;
    this.bytes = bytes;
  }

  static void create(Sqlite sqlite, String table, String input, byte[] bytes) {
    CsvTable csv = new CsvTable(input, bytes);
    csv.readShape();
    sqlite.execute("CREATE TABLE " + InputTables.quoted(table) + " (" + csv.definition() + ")");
    csv.insert(sqlite, table);
  }

  private String definition() {
    List<String> parts = new ArrayList<>();
    for (int i = 0; i < columns.size(); i++) {
      parts.add(InputTables.quoted(columns.get(i)) + " " + kinds.get(i));
    }
    return String.join(", ", parts);
  }

  /** The first pass: column names, number of fields in each record, and column types. */
  private void readShape() {
    CsvReader reader = new CsvReader(input, bytes);
    List<CsvReader.Field> header = reader.next();
    if (header == null) {
      throw GuestEnd.failed(Reason.BAD_INPUT, input + " has no first line with names");
    }
    for (CsvReader.Field name : header) {
      if (name.text().isEmpty()) {
        throw GuestEnd.failed(Reason.BAD_INPUT, input + " has a column without a name");
      }
      columns.add(name.text());
    }
    boolean[] values = new boolean[columns.size()];
    columns.forEach(c -> kinds.add(Kind.INTEGER));
    int line = reader.line();
    for (List<CsvReader.Field> row = reader.next(); row != null; row = reader.next()) {
      Guest.checkInterrupted();
      if (row.size() != columns.size()) {
        throw GuestEnd.failed(
            Reason.BAD_INPUT,
            input
                + ", line "
                + line
                + ": "
                + row.size()
                + " fields, the first line has "
                + columns.size());
      }
      for (int i = 0; i < row.size(); i++) {
        if (!row.get(i).isNull()) {
          values[i] = true;
          kinds.set(i, widest(kinds.get(i), row.get(i).text()));
        }
      }
      line = reader.line();
    }
    for (int i = 0; i < values.length; i++) {
      if (!values[i]) {
        kinds.set(i, Kind.TEXT);
      }
    }
  }

  private static Kind widest(Kind kind, String text) {
    if (kind == Kind.INTEGER && Numbers.isInteger(text)) {
      return Kind.INTEGER;
    }
    return kind != Kind.TEXT && Numbers.isNumber(text) ? Kind.REAL : Kind.TEXT;
  }

  /** The second pass. */
  private void insert(Sqlite sqlite, String table) {
    CsvReader reader = new CsvReader(input, bytes);
    reader.next();
    String marks = columns.stream().map(c -> "?").collect(Collectors.joining(","));
    sqlite.execute("BEGIN");
    try (Sqlite.Statement statement =
        sqlite.prepare("INSERT INTO " + InputTables.quoted(table) + " VALUES (" + marks + ")")) {
      for (List<CsvReader.Field> row = reader.next(); row != null; row = reader.next()) {
        for (int i = 0; i < row.size(); i++) {
          bind(statement, i, row.get(i));
        }
        statement.step();
        statement.reset();
      }
    }
    sqlite.execute("COMMIT");
  }

  private void bind(Sqlite.Statement statement, int index, CsvReader.Field field) {
    if (field.isNull()) {
      statement.bindNull(index);
      return;
    }
    switch (kinds.get(index)) {
      case INTEGER -> statement.bind(index, Long.parseLong(field.text()));
      case REAL -> statement.bind(index, Double.parseDouble(field.text()));
      case TEXT -> statement.bind(index, field.text());
    }
  }
}
