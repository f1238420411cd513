package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.cli.error.CliError;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * What each client's files are to have.
 *
 * @param launcher the absolute path of {@code writ}
 * @param home the absolute path of the data directory
 */
record ClientEntries(ClientPlaces places, String launcher, String home) {
  private static final String NAME = "writ";
  private static final long TIMEOUT_S = 60;

  /** The file with MCP servers. */
  ClientFile servers(SetupClient client) {
    JsonValue.Obj plain =
        JsonValue.object()
            .put("command", launcher)
            .putList("args", List.of("--home", home, "mcp"), JsonValue::of)
            .build();
    ClientFile.Entry entry =
        switch (client) {
          case CLAUDE_CODE -> new ClientFile.Server(List.of("mcpServers", NAME), typed(plain));
          case CLAUDE_DESKTOP, CURSOR -> new ClientFile.Server(List.of("mcpServers", NAME), plain);
          case VSCODE -> new ClientFile.Server(List.of("servers", NAME), typed(plain));
          case CODEX -> new ClientFile.Table(List.of("mcp_servers", NAME), plain);
        };
    return new ClientFile(places.servers(client), List.of(entry));
  }

  private static JsonValue.Obj typed(JsonValue.Obj plain) {
    ObjectBuilder typed = JsonValue.object().put("type", "stdio");
    plain.members().forEach(typed::put);
    return typed.build();
  }

  /**
   * The file with hooks; none for a client that has none.
   *
   * @param reports whether the agent also tells what it did
   */
  List<ClientFile> hooks(SetupClient client, boolean reports) {
    return places.hooks(client).stream()
        .map(place -> new ClientFile(place, entries(client, reports)))
        .toList();
  }

  private List<ClientFile.Entry> entries(SetupClient client, boolean reports) {
    List<ClientFile.Entry> entries = new ArrayList<>();
    if (client == SetupClient.CURSOR) {
      entries.add(new ClientFile.Default("version", JsonValue.of(1)));
    }
    String before = client == SetupClient.CURSOR ? "preToolUse" : "PreToolUse";
    entries.add(hook(client, before, true));
    if (reports) {
      entries.add(hook(client, before.replace("re", "ost"), false));
    }
    return entries;
  }

  private ClientFile.Hook hook(SetupClient client, String event, boolean decides) {
    ObjectBuilder command = JsonValue.object();
    if (client != SetupClient.CURSOR) {
      command.put("type", "command");
    }
    command.put("command", commandLine(client)).put("timeout", TIMEOUT_S);
    if (decides && client == SetupClient.CLAUDE_CODE) {
      command.put("onFailure", "block");
    }
    if (decides && client == SetupClient.CURSOR) {
      command.put("failClosed", JsonValue.TRUE);
    }
    JsonValue item =
        switch (client) {
          case CLAUDE_CODE, CODEX ->
              JsonValue.object()
                  .put("matcher", "*")
                  .put("hooks", JsonValue.of(List.of(command.build())))
                  .build();
          default -> command.build();
        };
    return new ClientFile.Hook(List.of("hooks", event), item, client.text());
  }

  /** As a shell reads it. */
  private String commandLine(SetupClient client) {
    return quoted(launcher) + " --home " + quoted(home) + " hook " + client.text();
  }

  private String quoted(String word) {
    if (word.matches("[A-Za-z0-9_@%+=:,./-]+")) {
      return word;
    }
    boolean windows = places.platform() == ClientPlaces.Platform.WINDOWS;
    if (windows && word.matches("[^\"%!\\p{Cntrl}]+")) {
      return "\"" + word + "\"";
    }
    if (!windows && word.chars().noneMatch(c -> c < 0x20)) {
      return "'" + word.replace("'", "'\\''") + "'";
    }
    throw new WritException(
        CliError.SETUP_PLACE,
        String.format(Locale.ROOT, "%d characters that no shell takes", word.length()));
  }
}
