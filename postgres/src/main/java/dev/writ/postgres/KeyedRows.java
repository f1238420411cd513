package dev.writ.postgres;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Rows of a table by several keys, each of which is looked up in the index. With {@code key = ANY
 * (…)} the planner may read all rows of the cell instead: a table that was small when the plan was
 * made, and that nobody has analyzed since, goes on being read so while it grows.
 */
final class KeyedRows {
  private KeyedRows() {}

  /**
   * What a query selects {@code found}'s columns from; its parameters are {@link #set} at their
   * place.
   *
   * @param selected columns of the table
   */
  static String from(FamilyTable table, String selected) {
    return " FROM unnest(?::bytea[]) AS wanted (name), LATERAL (SELECT "
        + selected
        + " FROM "
        + table.table()
        + " WHERE cell = ? AND key = wanted.name OFFSET 0) AS found"; // OFFSET keeps it a loop
  }

  /**
   * Sets the two parameters of {@link #from}.
   *
   * @param first the number of the first one
   */
  static void set(PreparedStatement query, int first, byte[][] keys, int cell) throws SQLException {
    query.setArray(first, query.getConnection().createArrayOf("bytea", keys));
    query.setInt(first + 1, cell);
  }
}
