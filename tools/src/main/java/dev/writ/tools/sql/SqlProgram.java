package dev.writ.tools.sql;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.Invocation;
import dev.writ.tools.wasm.Drbg;
import dev.writ.tools.wasm.FileTree;
import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.GuestClock;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import dev.writ.tools.wasm.Sink;
import dev.writ.tools.wasm.Wasi;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collections;
import java.util.List;

/** One run of one statement. */
final class SqlProgram {
  static final String MEDIA_TYPE = "application/json";

  /** The seed of SQLite's random(). */
  private static final List<String> RANDOM_DEVICE = List.of("dev", "urandom");

  private static final int RANDOM_BYTES = 256;

  private SqlProgram() {}

  /** Runs with params {@code sql} and {@code args} (none if missing). */
  static DriverOutcome.Output run(Guest guest) {
    JsonValue.Obj params = guest.invocation().params();
    if (!(params.get("sql") instanceof JsonValue.Str sql)) {
      throw GuestEnd.failed(Reason.BAD_PARAMS, "params/sql must be a string");
    }
    if (sql.value().indexOf('\0') >= 0) {
      throw GuestEnd.failed(Reason.BAD_PARAMS, "params/sql holds a NUL");
    }
    List<JsonValue> args = arguments(params.get("args"));
    guest.untilExit(() -> query(guest, sql.value(), args));
    return new DriverOutcome.Output(guest.stdout().toByteArray(), MEDIA_TYPE);
  }

  private static List<JsonValue> arguments(JsonValue value) {
    return switch (value) {
      case null -> List.of();
      case JsonValue.Arr list -> list.items();
      default -> throw GuestEnd.failed(Reason.BAD_PARAMS, "params/args must be a list");
    };
  }

  private static void query(Guest guest, String sql, List<JsonValue> args) {
    Sqlite sqlite = open(guest);
    // There is no directory for temporary files, so sorting uses memory.
    sqlite.execute("PRAGMA temp_store = 2");
    InputTables.load(sqlite, guest);
    sqlite.execute("PRAGMA query_only = 1");
    try (Sqlite.Statement statement = sqlite.prepare(sql)) {
      if (!statement.readOnly()) {
        throw GuestEnd.failed(Reason.NOT_READ_ONLY, "the statement would change the database");
      }
      if (statement.parameters() != args.size()) {
        throw GuestEnd.failed(
            Reason.BAD_PARAMS,
            "the statement has " + statement.parameters() + " parameters, args has " + args.size());
      }
      for (int i = 0; i < args.size(); i++) {
        JsonTable.bind(statement, i, args.get(i));
      }
      write(statement, guest.stdout());
    }
  }

  private static Sqlite open(Guest guest) {
    Invocation invocation = guest.invocation();
    FileTree files = new FileTree();
    files.add(RANDOM_DEVICE, new Drbg(invocation.seed()).next(RANDOM_BYTES));
    Wasi wasi =
        new Wasi(
            List.of("sql"),
            Collections.emptySortedMap(),
            new byte[0],
            files,
            new GuestClock(invocation.time(), 0),
            new Drbg(invocation.seed()),
            Sink.dropping(0),
            guest.stderr());
    return new Sqlite(guest, wasi);
  }

  /** Writes the result row by row, so that a large one ends exactly at the limit. */
  private static void write(Sqlite.Statement statement, Sink out) {
    int columns = statement.columns();
    put(out, "{\"columns\":[");
    for (int i = 0; i < columns; i++) {
      put(out, i == 0 ? "" : ",");
      out.write(Jcs.write(JsonValue.of(statement.columnName(i))));
    }
    put(out, "],\"rows\":[");
    boolean first = true;
    while (statement.step()) {
      put(out, first ? "[" : ",[");
      first = false;
      for (int i = 0; i < columns; i++) {
        put(out, i == 0 ? "" : ",");
        out.write(Jcs.write(value(statement, i)));
      }
      put(out, "]");
    }
    put(out, "]}");
  }

  private static void put(Sink out, String ascii) {
    out.write(ascii.getBytes(StandardCharsets.US_ASCII));
  }

  /** A value as JSON that every parser reads alike (spec/tool-sql.md). */
  private static JsonValue value(Sqlite.Statement statement, int column) {
    return switch (statement.type(column)) {
      case Sqlite.INTEGER -> integer(statement.integer(column));
      case Sqlite.FLOAT -> real(statement.real(column));
      case Sqlite.TEXT -> text(statement.bytes(column));
      case Sqlite.BLOB -> blob(statement.bytes(column));
      default -> JsonValue.NULL;
    };
  }

  private static JsonValue integer(long value) {
    boolean exact = value >= -JsonValue.Num.MAX_INTEGER && value <= JsonValue.Num.MAX_INTEGER;
    return exact ? JsonValue.of(value) : JsonValue.of(Long.toString(value));
  }

  private static JsonValue real(double value) {
    if (Double.isFinite(value)) {
      return new JsonValue.Num(value);
    }
    return JsonValue.of(value > 0 ? "Infinity" : "-Infinity");
  }

  private static JsonValue text(byte[] bytes) {
    try {
      return JsonValue.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException e) {
      return blob(bytes);
    }
  }

  private static JsonValue blob(byte[] bytes) {
    return JsonValue.object().put("base64", Base64.getEncoder().encodeToString(bytes)).build();
  }
}
