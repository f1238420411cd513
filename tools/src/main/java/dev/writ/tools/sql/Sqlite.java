package dev.writ.tools.sql;

import com.dylibso.chicory.runtime.ExportFunction;
import com.dylibso.chicory.runtime.HostFunction;
import com.dylibso.chicory.runtime.Instance;
import com.dylibso.chicory.runtime.Memory;
import com.dylibso.chicory.wasm.WasmModule;
import com.dylibso.chicory.wasm.types.FunctionImport;
import com.dylibso.chicory.wasm.types.FunctionType;
import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import dev.writ.tools.wasm.Texts;
import dev.writ.tools.wasm.Wasi;
import io.roastedroot.sqlite4j.SQLiteModule;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * One SQLite with one database in memory, in its own WebAssembly memory: the module of sqlite4j,
 * with our own imports and none of its JDBC layer.
 */
final class Sqlite {
  /** The module's version, for the sandbox profile. */
  static final String VERSION = "sqlite4j 3.50.4.1";

  static final int OK = 0;
  static final int NOMEM = 7;
  static final int ROW = 100;
  static final int DONE = 101;

  static final int INTEGER = 1;
  static final int FLOAT = 2;
  static final int TEXT = 3;
  static final int BLOB = 4;

  private static final int OPEN_READWRITE_CREATE_MEMORY = 0x2 | 0x4 | 0x80;
  private static final int DESERIALIZE_FREE_AND_RESIZE = 1 | 2;
  private static final int TRANSIENT = -1;
  private static final int LIMIT_ATTACHED = 7;
  private static final int LIMIT_WORKER_THREADS = 11;
  private static final int DBCONFIG_ENABLE_LOAD_EXTENSION = 1005;
  private static final int DBCONFIG_DEFENSIVE = 1010;
  private static final int DBCONFIG_TRUSTED_SCHEMA = 1017;
  private static final int PRIMARY_CODE = 0xff;

  /** The offset of two header bytes for the journal mode of a file; 1 means no write-ahead log. */
  private static final int HEADER_JOURNAL = 18;

  private static final WasmModule MODULE = SQLiteModule.load();

  private final Guest guest;
  private final Instance instance;
  private final Map<String, ExportFunction> functions = new LinkedHashMap<>();
  private final int db;
  private final int cell;
  private int scratch;
  private int scratchSize;

  Sqlite(Guest guest, Wasi wasi) {
    this.guest = guest;
    List<HostFunction> imports = new ArrayList<>(wasi.functions());
    callbacks(imports);
    instance = guest.instantiate(MODULE, SQLiteModule::create, imports, Optional.empty());
    instance.export("_initialize").apply();
    cell = allocate(8);
    check((int) call("sqlite3_initialize"));
    int name = place(":memory:\0".getBytes(StandardCharsets.US_ASCII));
    int opened = (int) call("sqlite3_open_v2", name, cell, OPEN_READWRITE_CREATE_MEMORY, 0);
    db = memory().readInt(cell);
    check(opened);
    configure(DBCONFIG_DEFENSIVE, 1);
    configure(DBCONFIG_TRUSTED_SCHEMA, 0);
    configure(DBCONFIG_ENABLE_LOAD_EXTENSION, 0);
    call("sqlite3_limit", db, LIMIT_ATTACHED, 0);
    call("sqlite3_limit", db, LIMIT_WORKER_THREADS, 0);
  }

  /**
   * Imports for Java functions that SQLite could call; none is registered, so they are never
   * called.
   */
  private static void callbacks(List<HostFunction> imports) {
    for (int i = 0; i < MODULE.importSection().importCount(); i++) {
      if (MODULE.importSection().getImport(i) instanceof FunctionImport function
          && function.module().equals("env")) {
        FunctionType type = MODULE.typeSection().getType(function.typeIndex());
        imports.add(
            new HostFunction(
                "env",
                function.name(),
                type,
                (caller, args) -> {
                  throw GuestEnd.failed(Reason.ENGINE_FAILURE, "an unexpected callback");
                }));
      }
    }
  }

  private Memory memory() {
    return instance.memory();
  }

  private long call(String function, long... args) {
    long[] result = functions.computeIfAbsent(function, instance::export).apply(args);
    return result == null || result.length == 0 ? 0 : result[0];
  }

  private int allocate(int size) {
    int at = (int) call("malloc", size);
    if (at == 0) {
      throw outOfMemory();
    }
    return at;
  }

  /** Copies bytes to memory, where they stay until the next call of this. */
  private int place(byte[] bytes) {
    if (bytes.length > scratchSize || scratch == 0) {
      if (scratch != 0) {
        call("free", scratch);
      }
      scratchSize = Math.max(1024, bytes.length);
      scratch = allocate(scratchSize);
    }
    memory().write(scratch, bytes);
    return scratch;
  }

  private static GuestEnd outOfMemory() {
    return GuestEnd.killed(Reason.OUT_OF_MEMORY, "out of memory");
  }

  /** A setting takes an int and a pointer for the old value, which is null here. */
  private void configure(int setting, int value) {
    int arguments = allocate(8);
    memory().writeI32(arguments, value);
    memory().writeI32(arguments + 4, 0);
    check((int) call("sqlite3_db_config", db, setting, arguments));
    call("free", arguments);
  }

  /**
   * @throws GuestEnd {@code sql-error} with SQLite's words, or {@code out-of-memory}
   */
  private void check(int code) {
    if (code != OK) {
      throw error(code);
    }
  }

  private GuestEnd error(int code) {
    if ((code & PRIMARY_CODE) == NOMEM && guest.memoryRefused()) {
      return outOfMemory();
    }
    return GuestEnd.failed(Reason.SQL_ERROR, cString((int) call("sqlite3_errmsg", db)));
  }

  private String cString(int at) {
    int length = (int) call("strlen", at);
    return Texts.text(memory().readBytes(at, length));
  }

  /** Makes the database a copy of a file's bytes. */
  void load(byte[] file) {
    int at = (int) call("sqlite3_malloc64", file.length);
    if (at == 0) {
      throw outOfMemory();
    }
    memory().write(at, file);
    if (file.length > HEADER_JOURNAL + 1) {
      // SQLite opens a file of write-ahead mode only with such a log, so the mode is changed.
      memory().writeByte(at + HEADER_JOURNAL, (byte) 1);
      memory().writeByte(at + HEADER_JOURNAL + 1, (byte) 1);
    }
    int name = place("main\0".getBytes(StandardCharsets.US_ASCII));
    check(
        (int)
            call(
                "sqlite3_deserialize",
                db,
                name,
                at,
                file.length,
                file.length,
                DESERIALIZE_FREE_AND_RESIZE));
  }

  /** Runs a statement of Writ itself, without a result. */
  void execute(String sql) {
    try (Statement statement = prepare(sql)) {
      while (statement.step()) {
        continue;
      }
    }
  }

  /** Prepares exactly one statement. */
  Statement prepare(String sql) {
    byte[] text = (sql + "\0").getBytes(StandardCharsets.UTF_8);
    int at = allocate(text.length);
    memory().write(at, text);
    int end = at + text.length - 1;
    int tails = allocate(8);
    int found = 0;
    int from = at;
    while (from < end) {
      check((int) call("sqlite3_prepare_v2", db, from, end - from, tails, tails + 4));
      int statement = memory().readInt(tails);
      if (statement != 0 && found != 0) {
        throw GuestEnd.failed(Reason.SQL_ERROR, "more than one statement");
      }
      found = statement != 0 ? statement : found;
      from = memory().readInt(tails + 4);
    }
    call("free", tails);
    call("free", at);
    if (found == 0) {
      throw GuestEnd.failed(Reason.SQL_ERROR, "no statement");
    }
    return new Statement(found);
  }

  /** A prepared statement; columns and parameters count from 0. */
  final class Statement implements AutoCloseable {
    private final int handle;

    private Statement(int handle) {
      this.handle = handle;
    }

    boolean readOnly() {
      return call("sqlite3_stmt_readonly", handle) != 0;
    }

    int parameters() {
      return (int) call("sqlite3_bind_parameter_count", handle);
    }

    void bindNull(int index) {
      check((int) call("sqlite3_bind_null", handle, index + 1));
    }

    void bind(int index, long value) {
      check((int) call("sqlite3_bind_int64", handle, index + 1, value));
    }

    void bind(int index, double value) {
      check(
          (int) call("sqlite3_bind_double", handle, index + 1, Double.doubleToRawLongBits(value)));
    }

    void bind(int index, String value) {
      byte[] text = value.getBytes(StandardCharsets.UTF_8);
      int at = place(text);
      check((int) call("sqlite3_bind_text", handle, index + 1, at, text.length, TRANSIENT));
    }

    /** Whether there is a row. */
    boolean step() {
      int code = (int) call("sqlite3_step", handle);
      if (code != ROW && code != DONE) {
        throw error(code);
      }
      return code == ROW;
    }

    void reset() {
      check((int) call("sqlite3_reset", handle));
    }

    int columns() {
      return (int) call("sqlite3_column_count", handle);
    }

    String columnName(int column) {
      int at = (int) call("sqlite3_column_name", handle, column);
      if (at == 0) {
        throw outOfMemory();
      }
      return cString(at);
    }

    int type(int column) {
      return (int) call("sqlite3_column_type", handle, column);
    }

    long integer(int column) {
      return call("sqlite3_column_int64", handle, column);
    }

    double real(int column) {
      return Double.longBitsToDouble(call("sqlite3_column_double", handle, column));
    }

    /** The bytes of a text, in UTF-8 if SQLite was given that, or of a blob. */
    byte[] bytes(int column) {
      String getter = type(column) == TEXT ? "sqlite3_column_text" : "sqlite3_column_blob";
      int at = (int) call(getter, handle, column);
      int length = (int) call("sqlite3_column_bytes", handle, column);
      if (at == 0 && length != 0) {
        throw outOfMemory();
      }
      return length == 0 ? new byte[0] : memory().readBytes(at, length);
    }

    @Override
    public void close() {
      call("sqlite3_finalize", handle);
    }
  }
}
