package dev.writ.cli.hook;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.guardian.document.Effect;
import dev.writ.guardian.document.Resources;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The effect that is judged for an agent's call of its own tool: an operation of {@code agent-hook}
 * by the kind of the tool, so that policy need not know how each agent names its tools.
 */
final class AgentCall {
  static final String TOOL = "agent-hook";
  static final String VERSION = "1.0.0";

  /** Texts that are longer are in the request by their digest and size alone. */
  private static final int TEXT_MAX = 4096;

  private static final Resources RESOURCES = new Resources(0, 0, 1024, 1000);
  private static final String SANDBOX = "wasm";

  private static final TreeMap<String, String> KINDS = new TreeMap<>();

  static {
    kind("command", "Bash", "PowerShell", "Shell", "run_in_terminal", "exec_command", "shell");
    kind("edit", "Edit", "MultiEdit", "Write", "NotebookEdit", "Delete", "StrReplace");
    kind("edit", "TabWrite", "apply_patch", "create_file", "replace_string_in_file");
    kind("edit", "multi_replace_string_in_file", "insert_edit_into_file", "create_directory");
    kind("edit", "edit_notebook_file");
    kind("read", "Read", "NotebookRead", "TabRead", "read_file", "view_image");
    kind("find", "Glob", "Grep", "LS", "list_dir", "file_search", "grep_search");
    kind("find", "semantic_search", "codebase_search");
    kind("fetch", "WebFetch", "fetch_webpage", "web_fetch");
    kind("search", "WebSearch", "web_search");
  }

  /** Members that hold what is in a file, which is in no request. */
  private static final List<String> CONTENTS =
      List.of(
          "content",
          "new_source",
          "new_string",
          "newString",
          "old_string",
          "oldString",
          "code",
          "newCode",
          "patch");

  private final HookEvent event;
  private final Path cwd;

  private AgentCall(HookEvent event, Path cwd) {
    this.event = event;
    this.cwd = cwd;
  }

  private static void kind(String operation, String... tools) {
    Stream.of(tools).forEach(tool -> KINDS.put(tool, operation));
  }

  /**
   * @param here the working directory where the agent does not say
   * @throws dev.writ.canonicalize.WritException {@code CLI-033} where a tool that is known has
   *     another input than is known
   */
  static Effect effect(HookEvent event, Path here) {
    return new AgentCall(event, CallPaths.path(here, event.cwd().orElse("")).normalize()).effect();
  }

  private Effect effect() {
    String operation = event.isReport() ? "report" : operation();
    ObjectBuilder params =
        JsonValue.object()
            .put("agent", event.agent().text())
            .put("tool", event.tool())
            .put("session", event.session())
            .putIfPresent("call", event.call(), JsonValue::of)
            .putIfPresent("mode", event.mode(), JsonValue::of)
            .put("cwd", cwd.toString())
            .put("arguments", shortened(event.input()));
    switch (operation) {
      case "command" -> params.put("command", command());
      case "edit", "read", "find" -> paths(params, operation);
      case "fetch" -> fetch(params);
      case "search" -> params.put("query", required("query"));
      case "mcp" -> params.put("server", server());
      case "report" -> params.putIfPresent("result", event.result(), AgentCall::digested);
      default -> {
        // What it is about, only its arguments say.
      }
    }
    return new Effect(
        TOOL, VERSION, operation, params.build(), List.of(), RESOURCES, SANDBOX, Optional.empty());
  }

  private String operation() {
    String tool = event.tool();
    return tool.startsWith("mcp_") || tool.startsWith("MCP:")
        ? "mcp"
        : KINDS.getOrDefault(tool, "other");
  }

  private String required(String name) {
    return HookEvent.text(event.input(), name)
        .filter(text -> !text.isEmpty())
        .orElseThrow(() -> event.unknown(name));
  }

  /** A list of words, as some agents send it, is joined by blanks. */
  private String command() {
    JsonValue given = oneOf("command", "cmd");
    String command =
        switch (given) {
          case JsonValue.Str text -> text.value();
          case JsonValue.Arr words -> {
            List<String> texts = new ArrayList<>();
            for (JsonValue word : words.items()) {
              if (!(word instanceof JsonValue.Str text)) {
                throw event.unknown("command");
              }
              texts.add(text.value());
            }
            yield String.join(" ", texts);
          }
          case null, default -> throw event.unknown("command");
        };
    if (command.isEmpty()) {
      throw event.unknown("command");
    }
    return command;
  }

  /** Empty also where the name may be that of a tool of another server. */
  private String server() {
    String prefix = "mcp__";
    boolean says = event.agent() == HookAgent.CLAUDE_CODE || event.agent() == HookAgent.CODEX;
    if (!says || !event.tool().startsWith(prefix)) {
      return "";
    }
    String name = event.tool().substring(prefix.length());
    int end = name.indexOf("__");
    boolean isOne = end > 0 && end == name.lastIndexOf("__") && end + 2 < name.length();
    return isOne ? name.substring(0, end) : "";
  }

  private void paths(ObjectBuilder params, String operation) {
    CallPaths paths = CallPaths.of(event, cwd, operation.equals("find"));
    params
        .putList("paths", paths.all(), p -> JsonValue.of(p.toString()))
        .put("inside", JsonValue.of(paths.isInside()));
  }

  /** Of both, nobody knows which one the tool takes. */
  private JsonValue oneOf(String name, String other) {
    JsonValue one = event.input().get(name);
    JsonValue two = event.input().get(other);
    if (one != null && two != null) {
      throw event.unknown(name);
    }
    return one == null ? two : one;
  }

  private void fetch(ObjectBuilder params) {
    String url =
        oneOf("urls", "url") instanceof JsonValue.Arr urls
                && urls.items().size() == 1
                && urls.items().getFirst() instanceof JsonValue.Str one
            ? one.value()
            : required("url");
    try {
      URI uri = URI.create(url);
      if (uri.getHost() == null) {
        throw event.unknown("url");
      }
      params.put("url", url).put("host", uri.getHost().toLowerCase(Locale.ROOT));
    } catch (IllegalArgumentException e) {
      throw event.unknown("url");
    }
  }

  private static JsonValue.Obj shortened(JsonValue.Obj object) {
    ObjectBuilder all = JsonValue.object();
    object.members().forEach((name, value) -> all.put(name, shortened(name, value)));
    return all.build();
  }

  private static JsonValue shortened(String name, JsonValue value) {
    return switch (value) {
      case JsonValue.Str text ->
          text.value().length() > TEXT_MAX || CONTENTS.contains(name) ? digested(value) : value;
      case JsonValue.Arr list ->
          JsonValue.of(list.items().stream().map(item -> shortened(name, item)).toList());
      case JsonValue.Obj object -> shortened(object);
      default -> value;
    };
  }

  /** A text by the digest of its UTF-8, anything else by that of its canonical JSON. */
  private static JsonValue digested(JsonValue value) {
    byte[] bytes =
        value instanceof JsonValue.Str text
            ? text.value().getBytes(StandardCharsets.UTF_8)
            : Jcs.write(value);
    return JsonValue.object()
        .put("sha256", Digest.sha256(bytes).hex())
        .put("size", bytes.length)
        .build();
  }
}
