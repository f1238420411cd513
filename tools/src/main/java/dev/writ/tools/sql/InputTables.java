package dev.writ.tools.sql;

import dev.writ.guardian.document.Input;
import dev.writ.tools.wasm.Guest;
import dev.writ.tools.wasm.GuestEnd;
import dev.writ.tools.wasm.Reason;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the database from the inputs: from at most one database file, then a table for each other
 * input.
 */
final class InputTables {
  private final Sqlite sqlite;
  private final Guest guest;

  private InputTables(Sqlite sqlite, Guest guest) {
    this.sqlite = sqlite;
    this.guest = guest;
  }

  static void load(Sqlite sqlite, Guest guest) {
    new InputTables(sqlite, guest).load();
  }

  /** A name as SQL writes it. */
  static String quoted(String name) {
    return "\"" + name.replace("\"", "\"\"") + "\"";
  }

  private void load() {
    List<Integer> databases = new ArrayList<>();
    List<Integer> tables = new ArrayList<>();
    for (int i = 0; i < guest.inputs().size(); i++) {
      (isDatabase(name(i)) ? databases : tables).add(i);
    }
    if (databases.size() > 1) {
      throw GuestEnd.failed(
          Reason.BAD_INPUT, databases.size() + " database files; there can be one");
    }
    for (int i : databases) {
      asInput(name(i), () -> database(guest.inputs().get(i)));
    }
    for (int i : tables) {
      asInput(name(i), () -> table(name(i), guest.inputs().get(i)));
    }
  }

  private String name(int index) {
    Input input = guest.invocation().inputs().get(index);
    return input.name();
  }

  private static boolean isDatabase(String name) {
    return name.endsWith(".db") || name.endsWith(".sqlite");
  }

  private void database(byte[] bytes) {
    sqlite.load(bytes);
    // Opens the file here, so that an invalid one is reported as such and not in the caller's
    // statement.
    sqlite.execute("PRAGMA schema_version");
  }

  private void table(String input, byte[] bytes) {
    if (input.indexOf('\0') >= 0) {
      throw GuestEnd.failed(Reason.BAD_INPUT, "a NUL in a name");
    }
    if (input.endsWith(".csv")) {
      CsvTable.create(sqlite, stem(input, ".csv"), input, bytes);
    } else if (input.endsWith(".json")) {
      JsonTable.create(sqlite, stem(input, ".json"), input, bytes);
    } else {
      throw GuestEnd.failed(
          Reason.BAD_INPUT, input + " ends with none of .csv, .json, .db, .sqlite");
    }
  }

  private static String stem(String input, String ending) {
    return input.substring(0, input.length() - ending.length());
  }

  /** Reports an SQLite error about an input as the input's fault, not the statement's. */
  private static void asInput(String input, Runnable load) {
    try {
      load.run();
    } catch (GuestEnd end) {
      throw end.reason().equals(Reason.SQL_ERROR)
          ? GuestEnd.failed(Reason.BAD_INPUT, input + ": " + end.getMessage())
          : end;
    }
  }
}
