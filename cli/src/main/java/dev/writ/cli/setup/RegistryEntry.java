package dev.writ.cli.setup;

import dev.writ.canonicalize.json.JsonValue;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;

/** A {@code server.json} of the MCP registry: how a server is had, in general words. */
final class RegistryEntry {
  private final JsonValue.Obj entry;
  private final String name;
  private final List<String> lacking = new ArrayList<>();

  /** Fields with placeholders: a stranger wrote them, and nobody fills them in from here. */
  private final List<String> open = new ArrayList<>();

  private final List<String> secret = new ArrayList<>();

  RegistryEntry(JsonValue.Obj entry) {
    this.entry = entry;
    String whole = ServersInFile.text(entry, "name").orElse("server");
    this.name = whole.substring(whole.lastIndexOf('/') + 1);
  }

  static boolean isOne(JsonValue.Obj object) {
    return object.get("name") instanceof JsonValue.Str
        && (object.get("packages") instanceof JsonValue.Arr
            || object.get("remotes") instanceof JsonValue.Arr);
  }

  /** The server: its package of npm, or else the first of its places. */
  ConfiguredServer server() {
    List<JsonValue.Obj> packages = objects(entry, "packages");
    Optional<JsonValue.Obj> npm =
        packages.stream()
            .filter(p -> ServersInFile.text(p, "registryType").equals(Optional.of("npm")))
            .filter(p -> transport(p).equals("stdio"))
            .findFirst();
    if (npm.isPresent()) {
      return npm(npm.get());
    }
    Optional<JsonValue.Obj> remote =
        objects(entry, "remotes").stream()
            .filter(r -> ServersInFile.text(r, "type").equals(Optional.of("streamable-http")))
            .findFirst();
    return remote
        .map(this::remote)
        .orElseGet(() ->
            ConfiguredServer.refused(
                name,
                "it is neither a package of npm nor reached by Streamable HTTP: "
                    + packages.stream()
                        .flatMap(p -> ServersInFile.text(p, "registryType").stream())
                        .toList()));
  }

  private static String transport(JsonValue.Obj one) {
    return one.get("transport") instanceof JsonValue.Obj transport
        ? ServersInFile.text(transport, "type").orElse("stdio")
        : "stdio";
  }

  private ConfiguredServer npm(JsonValue.Obj one) {
    List<String> command = new ArrayList<>(List.of("npx", "-y"));
    command.add(
        closed("identifier", ServersInFile.text(one, "identifier").orElse(""))
            + ServersInFile.text(one, "version").map(v -> "@" + closed("version", v)).orElse(""));
    objects(one, "packageArguments").forEach(argument -> argument(argument, command));
    return made(command, values(one, "environmentVariables"), Optional.empty(), new TreeMap<>());
  }

  private ConfiguredServer remote(JsonValue.Obj one) {
    Optional<String> url = ServersInFile.text(one, "url").map(text -> closed("url", text));
    return made(List.of(), new TreeMap<>(), url, values(one, "headers"));
  }

  private ConfiguredServer made(
      List<String> command,
      TreeMap<String, String> environment,
      Optional<String> url,
      TreeMap<String, String> headers) {
    return new ConfiguredServer(
        name, List.of(), command, environment, secret, url, headers, refusal(), false);
  }

  private Optional<String> refusal() {
    if (!open.isEmpty()) {
      return Optional.of(
          "placeholders in " + open + ", which nothing here fills in: give them to writ mcp add");
    }
    return lacking.isEmpty()
        ? Optional.empty()
        : Optional.of("its user has to say " + lacking + ": give them to writ mcp add");
  }

  /** A text of the entry, which is told as open where it has a placeholder. */
  private String closed(String field, String text) {
    if (text.contains("{")) {
      open.add(field);
    }
    return text;
  }

  private void argument(JsonValue.Obj argument, List<String> command) {
    String called = closed("an argument's name", ServersInFile.text(argument, "name").orElse(""));
    if (JsonValue.TRUE.equals(argument.get("isSecret"))) {
      lacking.add(called.isEmpty() ? "a secret argument" : called);
      return;
    }
    Optional<String> value = value(called.isEmpty() ? "an argument" : called, argument);
    if (value.isEmpty()) {
      if (JsonValue.TRUE.equals(argument.get("isRequired"))) {
        lacking.add(
            called.isEmpty()
                ? ServersInFile.text(argument, "valueHint").orElse("an argument")
                : called);
      }
    } else {
      if (!called.isEmpty()) {
        command.add(called);
      }
      command.add(value.get());
    }
  }

  private Optional<String> value(String field, JsonValue.Obj one) {
    return ServersInFile.text(one, "value")
        .or(() -> ServersInFile.text(one, "default"))
        .map(text -> closed(field, text));
  }

  /**
   * Variables or headers; a secret one that is required is asked of its user, and what the entry
   * says of its form is for people.
   */
  private TreeMap<String, String> values(JsonValue.Obj one, String member) {
    TreeMap<String, String> values = new TreeMap<>();
    for (JsonValue.Obj variable : objects(one, member)) {
      String called = closed(member, ServersInFile.text(variable, "name").orElse(""));
      boolean required = JsonValue.TRUE.equals(variable.get("isRequired"));
      if (JsonValue.TRUE.equals(variable.get("isSecret"))) {
        if (required) {
          secret.add(called);
          values.put(called, "${input:" + called + "}");
        }
        continue;
      }
      Optional<String> value = value(called, variable);
      if (value.isPresent()) {
        values.put(called, value.get());
      } else if (required) {
        lacking.add(called);
      }
    }
    return values;
  }

  private static List<JsonValue.Obj> objects(JsonValue.Obj object, String member) {
    return object.get(member) instanceof JsonValue.Arr list
        ? list.items().stream()
            .filter(JsonValue.Obj.class::isInstance)
            .map(JsonValue.Obj.class::cast)
            .toList()
        : List.of();
  }
}
