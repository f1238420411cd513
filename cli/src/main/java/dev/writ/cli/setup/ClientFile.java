package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * What setup changes in one file of a client: a pure function of the file's text.
 *
 * @param place of the file
 */
record ClientFile(String place, List<Entry> entries) {

  /** One thing in a file. */
  sealed interface Entry {}

  /** An MCP server in JSON: members that are set one by one, so that others of the user's stay. */
  record Server(List<String> path, JsonValue.Obj members) implements Entry {}

  /** A member of JSON that is set where it is missing. */
  record Default(String name, JsonValue value) implements Entry {}

  /** A hook in a list of JSON; it is known by its command. */
  record Hook(List<String> path, JsonValue item, String agent) implements Entry {
    /** Whether an item is what setup wrote, for this data directory or another. */
    Predicate<String> isOurs() {
      return text -> text.contains(" hook " + agent) && text.contains("--home ");
    }
  }

  /** A table of TOML. */
  record Table(List<String> path, JsonValue.Obj members) implements Entry {}

  ClientFile {
    entries = List.copyOf(entries);
  }

  /**
   * The text with all entries.
   *
   * @throws WritException {@code CLI-035}, {@code CLI-036}
   */
  String applied(String text) {
    String now = text;
    for (Entry entry : entries) {
      now =
          switch (entry) {
            case Server server -> server(now, server);
            case Default value ->
                JsoncEdit.of(place, now).value(List.of(value.name())).isPresent()
                    ? now
                    : JsoncEdit.of(place, now).set(List.of(value.name()), value.value());
            case Hook hook -> hook(now, hook);
            case Table table -> TomlEdit.of(place, now).set(table.path(), table.members());
          };
    }
    return now;
  }

  private String server(String text, Server server) {
    JsoncEdit edit = JsoncEdit.of(place, text);
    if (edit.value(server.path()).isEmpty()) {
      return edit.set(server.path(), server.members());
    }
    if (!isOurs(edit, server)) {
      throw new WritException(
          CliError.SETUP_FOREIGN, place + ": " + String.join("/", server.path()));
    }
    String now = text;
    for (String name : server.members().members().keySet()) {
      List<String> path = new ArrayList<>(server.path());
      path.add(name);
      JsonValue wanted = server.members().get(name);
      JsoncEdit at = JsoncEdit.of(place, now);
      if (!at.value(path).filter(found -> JsoncWords.same(found, wanted)).isPresent()) {
        now = at.set(path, wanted);
      }
    }
    return now;
  }

  /** Setup's entries end in {@code --home DIR mcp}. */
  private static boolean isOurs(JsoncEdit edit, Server server) {
    List<String> args = new ArrayList<>(server.path());
    args.add("args");
    List<String> items = edit.items(args);
    return items.size() == 3
        && items.getFirst().equals("\"--home\"")
        && items.getLast().equals("\"mcp\"");
  }

  private String hook(String text, Hook hook) {
    JsoncEdit edit = JsoncEdit.of(place, text);
    List<String> ours = edit.items(hook.path()).stream().filter(hook.isOurs()).toList();
    if (ours.isEmpty()) {
      return edit.add(hook.path(), hook.item());
    }
    return JsoncWords.same(ours.getFirst(), hook.item())
        ? text
        : edit.replace(hook.path(), hook.isOurs(), hook.item());
  }

  /** Whether something that setup wrote is in it. */
  boolean isIn(String text) {
    return !removed(text).equals(text);
  }

  /** The text without what setup wrote, whatever else was changed in it. */
  String removed(String text) {
    if (text.isBlank()) {
      return text;
    }
    String now = text;
    for (Entry entry : entries.reversed()) {
      now =
          switch (entry) {
            case Server server -> {
              JsoncEdit edit = JsoncEdit.of(place, now);
              yield isOurs(edit, server) ? edit.remove(server.path()) : now;
            }
            case Default _ -> now;
            case Hook hook -> JsoncEdit.of(place, now).remove(hook.path(), hook.isOurs());
            case Table _ -> TomlEdit.of(place, now).remove();
          };
    }
    return now;
  }
}
