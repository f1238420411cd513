package dev.writ.postgres;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.dsse.Envelope;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.event.Event;
import dev.writ.ledger.form.RowContents;
import dev.writ.ledger.storage.Family;
import java.nio.charset.StandardCharsets;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** The table of a family: how a row becomes columns and comes back. */
enum FamilyTable {
  META(Family.DEFAULT, "meta", 64),
  EVENT(Family.EVENTS, "event", 512) {
    @Override
    List<Column> columns() {
      return List.of(
          VALUE,
          new Column("kind", "text"),
          new Column("at_ms", "bigint"),
          new Column("body", "bytea"));
    }

    @Override
    Object[] split(byte[] key, byte[] row) {
      if (RowContents.isPackedEvent(row)) {
        return new Object[] {row, null, null, null}; // the view reads it
      }
      Optional<Event> event = RowContents.event(key, row);
      return new Object[] {
        row,
        event.map(Event::kind).orElse(null),
        event.map(known -> known.at().toEpochMilli()).orElse(null),
        event.map(known -> known.body().bytes()).orElse(null)
      };
    }
  },
  LOG(Family.LOG, "log", 512),
  RUN(Family.RUNS, "run", 512),
  DOCUMENT(Family.DOCUMENTS, "document", 16) {
    @Override
    List<Column> columns() {
      return List.of(
          VALUE,
          new Column("payload_type", "text"),
          new Column("payload", "bytea"),
          new Column("signatures", "json"));
    }

    @Override
    String read() {
      return "value, payload_type, payload, signatures::text";
    }

    @Override
    byte[] join(ResultSet columns, int first) throws SQLException {
      byte[] raw = columns.getBytes(first);
      return raw != null
          ? raw
          : document(
              columns.getString(first + 1),
              columns.getBytes(first + 2),
              columns.getString(first + 3));
    }
  },
  BLOB(Family.BLOBS, "blob", 16),
  FILE(Family.FILES, "file", 512),
  TABLE_ROW(Family.TABLES, "table_row", 64),
  CHECKPOINT(Family.CHECKPOINTS, "checkpoint", 512);

  /** A column beside the key. */
  record Column(String name, String type) {}

  private static final Column VALUE = new Column("value", "bytea");

  private final Family family;
  private final String table;

  /** How many rows a scan fetches at once: few where one may be large. */
  private final int fetched;

  FamilyTable(Family family, String table, int fetched) {
    this.family = family;
    this.table = table;
    this.fetched = fetched;
  }

  static FamilyTable of(Family family) {
    FamilyTable table = values()[family.ordinal()];
    if (table.family != family) {
      throw new IllegalStateException(family + " has no table");
    }
    return table;
  }

  String table() {
    return table;
  }

  int fetched() {
    return fetched;
  }

  List<Column> columns() {
    return List.of(VALUE);
  }

  /** The columns, as a query names them. */
  String read() {
    return String.join(", ", columns().stream().map(Column::name).toList());
  }

  /** The values of {@link #columns}. */
  Object[] split(byte[] key, byte[] row) {
    Object[] values = new Object[columns().size()];
    values[0] = row;
    return values;
  }

  /** The row whose columns begin there, also one of a schema before this. */
  byte[] join(ResultSet columns, int first) throws SQLException {
    return columns.getBytes(first);
  }

  private static byte[] document(String payloadType, byte[] payload, String signatures) {
    try {
      byte[] list = ("{\"signatures\":" + signatures + "}").getBytes(StandardCharsets.UTF_8);
      Fields fields = Fields.of("document", Jcs.parse(list));
      return RowContents.row(
          Envelope.of(
              payloadType,
              payload,
              fields.list(
                  "signatures",
                  (path, value) -> {
                    Fields signature = Fields.of(path, value);
                    return new Envelope.Signature(
                        signature.string("keyid"),
                        StrictBase64.decode(path, signature.string("sig")));
                  })));
    } catch (WritException e) {
      throw new WritException(LedgerError.CORRUPT, "a document's columns: " + e.found(), e);
    }
  }
}
