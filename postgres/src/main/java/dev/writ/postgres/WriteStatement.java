package dev.writ.postgres;

import dev.writ.ledger.storage.Family;
import java.lang.reflect.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** One write as a transaction that is sent whole, its commit included: one round trip. */
final class WriteStatement {
  /** What the function {@code require_written} raises where this is not the writer any more. */
  private static final String NOT_WRITTEN = "WR074";

  /** Of the rows of one statement, beyond which another begins. */
  private static final int BYTES_MAX = 16 << 20;

  private record Parameter(String type, Object value) {}

  private final int cell;
  private final StringBuilder sql = new StringBuilder();
  private final List<Parameter> parameters = new ArrayList<>();

  /**
   * @param epoch and the two after it: what the cell must still be for anything to be written
   */
  WriteStatement(int cell, long epoch, long writes, long size, long newSize, PostgresWrite w) {
    this.cell = cell;
    sql.append("UPDATE cell SET size = ?, writes = writes + 1");
    sql.append(" WHERE cell = ? AND epoch = ? AND writes = ? AND size = ?");
    for (Object value : List.of(newSize, cell, epoch, writes, size)) {
      parameters.add(new Parameter("", value));
    }
    sql.append(";SELECT require_written(?, ?, ?)");
    for (Object value : List.of(cell, epoch, writes + 1)) {
      parameters.add(new Parameter("", value));
    }
    w.rows().forEach((family, rows) -> rows(family, rows, false));
    w.newRows().forEach((family, rows) -> rows(family, rows, true));
    sql.append(";COMMIT");
  }

  private void rows(Family family, TreeMap<byte[], byte[]> rows, boolean unlessThere) {
    FamilyTable table = FamilyTable.of(family);
    List<byte[]> removed = new ArrayList<>();
    List<Map.Entry<byte[], byte[]>> put = new ArrayList<>();
    long bytes = 0;
    for (Map.Entry<byte[], byte[]> row : rows.entrySet()) {
      if (row.getValue() == null) {
        removed.add(row.getKey());
        continue;
      }
      if (bytes > 0 && bytes + row.getValue().length > BYTES_MAX) {
        insert(table, put, unlessThere);
        put.clear();
        bytes = 0;
      }
      put.add(row);
      bytes += row.getKey().length + row.getValue().length;
    }
    if (!put.isEmpty()) {
      insert(table, put, unlessThere);
    }
    if (!removed.isEmpty()) {
      sql.append(";").append(removeSql(table));
      parameters.add(new Parameter("", cell));
      parameters.add(new Parameter("", removed.getFirst()));
      parameters.add(new Parameter("", removed.getLast()));
      parameters.add(new Parameter("bytea", removed.toArray(byte[][]::new)));
    }
  }

  /**
   * {@link KeyedRows} cannot serve here. The range, from the first key to the last, keeps a plan
   * that reads more than the keys within the rows of one kind.
   */
  static String removeSql(FamilyTable table) {
    return "DELETE FROM "
        + table.table()
        + " WHERE cell = ? AND key BETWEEN ? AND ? AND key = ANY (?)";
  }

  private void insert(
      FamilyTable table, List<Map.Entry<byte[], byte[]>> rows, boolean unlessThere) {
    List<FamilyTable.Column> columns = table.columns();
    byte[][] keys = new byte[rows.size()][];
    Object[] sent = columns.stream().map(column -> array(column.type(), rows.size())).toArray();
    boolean[] isUsed = new boolean[sent.length];
    for (int i = 0; i < rows.size(); i++) {
      keys[i] = rows.get(i).getKey();
      Object[] parts = table.split(keys[i], rows.get(i).getValue());
      for (int c = 0; c < parts.length; c++) {
        Array.set(sent[c], i, parts[c]);
        isUsed[c] |= parts[c] != null;
      }
    }
    parameters.add(new Parameter("", cell));
    parameters.add(new Parameter("bytea", keys));
    StringBuilder names = new StringBuilder("key");
    StringBuilder values = new StringBuilder("u.key");
    StringBuilder arrays = new StringBuilder("?::bytea[]");
    StringBuilder replaced = new StringBuilder();
    for (int c = 0; c < sent.length; c++) {
      FamilyTable.Column column = columns.get(c);
      replaced.append(replaced.isEmpty() ? "" : ", ").append(column.name());
      if (!isUsed[c]) { // by no row here, though perhaps by one that is replaced
        replaced.append(" = NULL");
        continue;
      }
      names.append(", ").append(column.name());
      values.append(", u.").append(column.name());
      arrays.append(", ?::").append(column.type()).append("[]");
      replaced.append(" = EXCLUDED.").append(column.name());
      parameters.add(new Parameter(column.type(), sent[c]));
    }
    sql.append(";INSERT INTO ").append(table.table());
    sql.append(" (cell, ").append(names).append(") SELECT ?, ").append(values);
    sql.append(" FROM unnest(").append(arrays).append(") AS u (").append(names);
    sql.append(") ON CONFLICT (cell, key) DO ");
    sql.append(unlessThere ? "NOTHING" : "UPDATE SET " + replaced);
  }

  private static Object array(String type, int length) {
    return switch (type) {
      case "bytea" -> new byte[length][];
      case "bigint" -> new Long[length];
      default -> new String[length];
    };
  }

  /** Whether the server refused the whole because the cell was not as expected. */
  static boolean isNotWriter(SQLException e) {
    return NOT_WRITTEN.equals(e.getSQLState());
  }

  /**
   * Executes and commits all of it.
   *
   * @return what the server warned of
   * @throws SQLException {@link #isNotWriter}, after which the transaction has to be rolled back
   */
  Optional<SQLWarning> execute(Connection session) throws SQLException {
    try (PreparedStatement statement = session.prepareStatement(sql.toString())) {
      for (int i = 0; i < parameters.size(); i++) {
        Parameter parameter = parameters.get(i);
        if (parameter.type().isEmpty()) {
          statement.setObject(i + 1, parameter.value());
        } else {
          statement.setArray(
              i + 1, session.createArrayOf(parameter.type(), (Object[]) parameter.value()));
        }
      }
      statement.execute();
      return Optional.ofNullable(statement.getWarnings());
    }
  }
}
