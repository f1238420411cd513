package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What the entries of clients and of the registry say, each in its own words. */
final class ServersInFile {
  private static final List<String> ELSEWHERE = List.of("url", "serverUrl", "httpUrl");

  private final Path file;
  private final JsonValue.Obj root;
  private final List<ConfiguredServer> found = new ArrayList<>();

  ServersInFile(Path file, JsonValue.Obj root) {
    this.file = file;
    this.root = root;
  }

  /**
   * @throws WritException {@code CLI-076} where nothing in it is of any known form
   */
  List<ConfiguredServer> all() {
    boolean known = false;
    for (List<String> path :
        List.of(
            List.of("mcpServers"),
            List.of("servers"),
            List.of("mcp", "servers"),
            List.of("mcp_servers"))) {
      Optional<JsonValue.Obj> entries = at(root, path);
      known |= entries.isPresent();
      entries.ifPresent(e -> entries(path, e));
    }
    known |= projects();
    Optional<JsonValue.Obj> listed = at(root, List.of("server"));
    if (RegistryEntry.isOne(listed.orElse(root))) {
      found.add(new RegistryEntry(listed.orElse(root)).server());
      known = true;
    }
    boolean empty = root.members().isEmpty();
    if (!known && !empty && !file.endsWith(".claude.json") && !file.endsWith("config.toml")) {
      throw new WritException(
          CliError.IMPORT_FILE,
          file + ": it has neither mcpServers nor servers, and is no entry of the registry");
    }
    return List.copyOf(found);
  }

  /** Claude Code keeps servers of a project in the user's own file. */
  private boolean projects() {
    Optional<JsonValue.Obj> projects = at(root, List.of("projects"));
    projects.ifPresent(all ->
        all.members()
            .forEach((project, value) ->
                at(value, List.of("mcpServers"))
                    .ifPresent(e -> entries(List.of("projects", project, "mcpServers"), e))));
    return projects.isPresent();
  }

  private static Optional<JsonValue.Obj> at(JsonValue from, List<String> path) {
    JsonValue value = from;
    for (String name : path) {
      value = value instanceof JsonValue.Obj object ? object.get(name) : null;
    }
    return value instanceof JsonValue.Obj object ? Optional.of(object) : Optional.empty();
  }

  private void entries(List<String> path, JsonValue.Obj entries) {
    entries
        .members()
        .forEach((name, value) -> {
          List<String> all = new ArrayList<>(path);
          all.add(name);
          found.add(
              value instanceof JsonValue.Obj entry
                  ? entry(name, all, entry)
                  : ConfiguredServer.refused(name, "its entry is no object"));
        });
  }

  private ConfiguredServer entry(String name, List<String> path, JsonValue.Obj entry) {
    TreeMap<String, String> headers = texts(entry, "headers");
    headers.putAll(texts(entry, "http_headers"));
    texts(entry, "env_http_headers")
        .forEach((header, variable) -> headers.put(header, "${env:" + variable + "}"));
    text(entry, "bearer_token_env_var")
        .ifPresent(v -> headers.put("Authorization", "Bearer ${env:" + v + "}"));
    TreeMap<String, String> environment = texts(entry, "env");
    strings(entry, "env_vars").forEach(v -> environment.put(v, "${env:" + v + "}"));
    List<String> command = new ArrayList<>();
    text(entry, "command").ifPresent(command::add);
    command.addAll(strings(entry, "args"));
    Optional<String> url =
        ELSEWHERE.stream().flatMap(member -> text(entry, member).stream()).findFirst();
    Optional<String> left =
        isOff(entry)
            ? Optional.of("it is switched off there")
            : isWrit(command) ? Optional.of("it is Writ itself") : Optional.empty();
    return new ConfiguredServer(
        name,
        path,
        command,
        environment,
        List.of(),
        url,
        headers,
        left.or(() -> refusal(entry, command, url)),
        left.isPresent());
  }

  private static boolean isOff(JsonValue.Obj entry) {
    return JsonValue.TRUE.equals(entry.get("disabled"))
        || JsonValue.FALSE.equals(entry.get("enabled"));
  }

  private static Optional<String> refusal(
      JsonValue.Obj entry, List<String> command, Optional<String> url) {
    if (text(entry, "envFile").isPresent()) {
      return Optional.of("its variables are in a file: give them by --env and --env-secret");
    }
    if (entry.get("command") instanceof JsonValue.Arr) {
      return Optional.of(
          "its command is a list: the first is the command, the others are its args");
    }
    if (entry.get("args") instanceof JsonValue.Str) {
      return Optional.of("its args are no list: write each word by itself, [\"-y\", …]");
    }
    if (!hasOnlyWords(entry)) {
      return Optional.of("an entry of its args or env is neither a text nor a number");
    }
    if (command.isEmpty() || text(entry, "command").isEmpty()) {
      return url.isPresent() ? Optional.empty() : Optional.of("it has neither a command nor a url");
    }
    return text(entry, "cwd")
        .map(folder ->
            "it starts in " + folder + ": writ mcp add NAME --code " + folder + " -- COMMAND");
  }

  /** As {@code writ setup} and a rewriting import write it, and as people do by hand. */
  private static boolean isWrit(List<String> command) {
    boolean written =
        command.size() >= 4 && command.get(1).equals("--home") && command.get(3).equals("mcp");
    return written
        || command.size() >= 2
            && command.getFirst().matches("(.*/)?writ")
            && command.get(1).equals("mcp");
  }

  static Optional<String> text(JsonValue.Obj object, String member) {
    return object.get(member) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  static List<String> strings(JsonValue.Obj object, String member) {
    return object.get(member) instanceof JsonValue.Arr list
        ? list.items().stream().flatMap(item -> word(item).stream()).toList()
        : List.of();
  }

  /** What clients hand on of a value: people also write ports and switches without quotes. */
  private static Optional<String> word(JsonValue value) {
    return switch (value) {
      case JsonValue.Str text -> Optional.of(text.value());
      case JsonValue.Num _, JsonValue.Bool _ ->
          Optional.of(new String(Jcs.write(value), StandardCharsets.UTF_8));
      case JsonValue.Obj _, JsonValue.Arr _, JsonValue.Null _ -> Optional.empty();
    };
  }

  private static boolean hasOnlyWords(JsonValue.Obj entry) {
    return Stream.concat(
            entry.get("args") instanceof JsonValue.Arr list ? list.items().stream() : Stream.of(),
            entry.get("env") instanceof JsonValue.Obj all
                ? all.members().values().stream()
                : Stream.of())
        .allMatch(value -> word(value).isPresent());
  }

  private static TreeMap<String, String> texts(JsonValue.Obj object, String member) {
    TreeMap<String, String> texts = new TreeMap<>();
    if (object.get(member) instanceof JsonValue.Obj all) {
      all.members().forEach((name, value) -> word(value).ifPresent(text -> texts.put(name, text)));
    }
    return texts;
  }
}
