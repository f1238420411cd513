package dev.writ.tools.sql;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.Limits;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Makes a table of a JSON list of objects. The columns are all keys, in the order of RFC 8785; a
 * key that an object lacks is NULL. Booleans become 1 and 0, integers within 2^53 INTEGER, other
 * numbers REAL, objects and lists their canonical text.
 */
final class JsonTable {
  /** Smaller than for other inputs, since such a file is held as objects on the host's heap. */
  private static final Limits LIMITS = new Limits(8 << 20, 128);

  private JsonTable() {}

  static void create(Sqlite sqlite, String table, String input, byte[] bytes) {
    List<JsonValue.Obj> rows = rows(input, bytes);
    TreeSet<String> keys = new TreeSet<>();
    rows.forEach(row -> keys.addAll(row.members().keySet()));
    if (keys.isEmpty()) {
      throw GuestEnd.failed(Reason.BAD_INPUT, input + " names no column");
    }
    List<String> columns = List.copyOf(keys);
    String names = columns.stream().map(InputTables::quoted).collect(Collectors.joining(", "));
    sqlite.execute("CREATE TABLE " + InputTables.quoted(table) + " (" + names + ")");
    String marks = columns.stream().map(c -> "?").collect(Collectors.joining(","));
    sqlite.execute("BEGIN");
    try (Sqlite.Statement statement =
        sqlite.prepare("INSERT INTO " + InputTables.quoted(table) + " VALUES (" + marks + ")")) {
      for (JsonValue.Obj row : rows) {
        for (int i = 0; i < columns.size(); i++) {
          bind(statement, i, row.get(columns.get(i)));
        }
        statement.step();
        statement.reset();
      }
    }
    sqlite.execute("COMMIT");
  }

  /** The objects of a file. */
  static List<JsonValue.Obj> rows(String input, byte[] bytes) {
    JsonValue value;
    try {
      value = Jcs.parse(bytes, LIMITS);
    } catch (WritException e) {
      throw GuestEnd.failed(Reason.BAD_INPUT, input + ": " + e.getMessage());
    }
    if (!(value instanceof JsonValue.Arr list)) {
      throw GuestEnd.failed(Reason.BAD_INPUT, input + " is not a list of objects");
    }
    List<JsonValue.Obj> rows = new ArrayList<>(list.items().size());
    for (JsonValue item : list.items()) {
      if (!(item instanceof JsonValue.Obj row)) {
        throw GuestEnd.failed(
            Reason.BAD_INPUT, input + ": item " + rows.size() + " is not an object");
      }
      rows.add(row);
    }
    return rows;
  }

  /** Binds a value of a file or of the arguments; null where there is none. */
  static void bind(Sqlite.Statement statement, int index, JsonValue value) {
    switch (value) {
      case null -> statement.bindNull(index);
      case JsonValue.Null n -> statement.bindNull(index);
      case JsonValue.Bool b -> statement.bind(index, b.value() ? 1L : 0L);
      case JsonValue.Str s -> statement.bind(index, s.value());
      case JsonValue.Num n -> {
        if (n.isInteger()) {
          statement.bind(index, (long) n.value());
        } else {
          statement.bind(index, n.value());
        }
      }
      case JsonValue.Arr a -> statement.bind(index, canonical(a));
      case JsonValue.Obj o -> statement.bind(index, canonical(o));
    }
  }

  private static String canonical(JsonValue value) {
    return new String(Jcs.write(value), StandardCharsets.UTF_8);
  }
}
