package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.cli.error.CliError;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** A client's file in which entries start Writ in place of the servers that it has now. */
public final class ServersRewrite {
  /** What said how the server itself is started or reached, and with which secrets. */
  private static final List<String> REPLACED =
      List.of(
          "env",
          "envFile",
          "cwd",
          "url",
          "serverUrl",
          "httpUrl",
          "headers",
          "env_vars",
          "http_headers",
          "env_http_headers",
          "bearer_token_env_var");

  private ServersRewrite() {}

  /** A file that was changed. Its lines are not told: they may hold secrets. */
  public record Changed(Path file, Path backup) {}

  private static SetupRecord record(Path file) {
    return new SetupRecord(file.toString(), ".before-import", ".writ-import");
  }

  /**
   * Changes entries; the rest of the file keeps its bytes.
   *
   * @param entries the names that servers have here, by their entries
   * @param launcher the absolute path of {@code writ}
   * @param dry whether nothing is written
   * @throws WritException {@code CLI-076} for an entry in a form that is not changed
   */
  public static Changed write(
      ServersFile file,
      Map<ConfiguredServer, String> entries,
      String launcher,
      Path home,
      boolean dry) {
    String now = file.text();
    for (var entry : entries.entrySet()) {
      List<String> args = List.of("--home", home.toString(), "mcp", "--server", entry.getValue());
      now =
          file.isToml()
              ? toml(file.file(), now, entry.getKey().path(), launcher, args)
              : json(file.file(), now, entry.getKey().path(), launcher, args);
    }
    SetupRecord record = record(file.file());
    if (!dry && !now.equals(file.text())) {
      record.write(Optional.of(file.text()), now);
    }
    return new Changed(record.file(), record.backup());
  }

  /**
   * Gives back the bytes from before.
   *
   * @return nothing where nothing was changed
   * @throws WritException {@code CLI-077} where the file was changed since
   */
  public static Optional<Changed> undo(Path file, boolean dry) {
    SetupRecord record = record(file);
    Optional<String> before = record(record.backup()).text().filter(_ -> record.text().isPresent());
    if (before.isEmpty()) {
      return Optional.empty();
    }
    if (!record.isAsWritten()) {
      throw new WritException(
          CliError.IMPORT_CHANGED, record.file() + "; what was there before: " + record.backup());
    }
    if (!dry) {
      record.restore();
    }
    return Optional.of(new Changed(record.file(), record.backup()));
  }

  private static String json(
      Path file, String text, List<String> path, String launcher, List<String> args) {
    String place = file.toString();
    String now = text;
    boolean typed = path.getFirst().equals("servers") || file.endsWith(".claude.json");
    List<String> type = below(path, "type");
    if (typed || JsoncEdit.of(place, now).value(type).isPresent()) {
      now = JsoncEdit.of(place, now).set(type, JsonValue.of("stdio"));
    }
    now = JsoncEdit.of(place, now).set(below(path, "command"), JsonValue.of(launcher));
    now =
        JsoncEdit.of(place, now)
            .set(below(path, "args"), JsonValue.of(args.stream().map(JsonValue::of).toList()));
    for (String member : REPLACED) {
      if (JsoncEdit.of(place, now).value(below(path, member)).isPresent()) {
        now = JsoncEdit.of(place, now).remove(below(path, member));
      }
    }
    return now;
  }

  private static List<String> below(List<String> path, String member) {
    List<String> all = new ArrayList<>(path);
    all.add(member);
    return all;
  }

  /**
   * The table is written anew where it begins, without the comments in it, and the result read
   * again.
   */
  private static String toml(
      Path file, String text, List<String> path, String launcher, List<String> args) {
    JsonValue.Obj made =
        JsonValue.object().put("command", launcher).putList("args", args, JsonValue::of).build();
    String now = new TomlTable(file, path.getLast(), made, REPLACED).in(text);
    JsonValue.Obj root = ServersFile.toml(file, text);
    JsonValue.Obj expected = with(root, path, replaced(at(root, path), made));
    if (!Jcs.digest(ServersFile.toml(file, now)).equals(Jcs.digest(expected))) {
      throw new WritException(
          CliError.IMPORT_FILE,
          file + ": [" + String.join(".", path) + "] is in a form that is not changed");
    }
    return now;
  }

  private static JsonValue.Obj at(JsonValue.Obj root, List<String> path) {
    JsonValue.Obj found = root;
    for (String name : path) {
      found = (JsonValue.Obj) found.get(name);
    }
    return found;
  }

  private static JsonValue.Obj replaced(JsonValue.Obj entry, JsonValue.Obj made) {
    TreeMap<String, JsonValue> members = new TreeMap<>(entry.members());
    members.keySet().removeAll(REPLACED);
    members.putAll(made.members());
    ObjectBuilder changed = JsonValue.object();
    members.forEach(changed::put);
    return changed.build();
  }

  private static JsonValue.Obj with(JsonValue.Obj root, List<String> path, JsonValue.Obj value) {
    TreeMap<String, JsonValue> members = new TreeMap<>(root.members());
    members.put(
        path.getFirst(),
        path.size() == 1
            ? value
            : with((JsonValue.Obj) root.get(path.getFirst()), path.subList(1, path.size()), value));
    ObjectBuilder changed = JsonValue.object();
    members.forEach(changed::put);
    return changed.build();
  }
}
