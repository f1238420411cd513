package dev.writ.cli.hook;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.cli.error.CliError;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * What an agent tells its hook.
 *
 * @param name of the event, as the agent writes it
 * @param isReport whether the tool was used already
 * @param tool as the agent names it
 * @param input the tool's input
 * @param call which of the session's calls it is, where the agent says
 * @param mode the agent's own mode of permissions, where it says
 * @param result what the tool gave, in a report
 */
record HookEvent(
    HookAgent agent,
    String name,
    boolean isReport,
    String tool,
    JsonValue.Obj input,
    String session,
    Optional<String> call,
    Optional<String> mode,
    Optional<String> cwd,
    Optional<JsonValue> result) {
  private static final List<String> BEFORE =
      List.of(
          "PreToolUse",
          "preToolUse",
          "beforeShellExecution",
          "beforeMCPExecution",
          "beforeReadFile");

  private static final List<String> AFTER =
      List.of(
          "PostToolUse",
          "PostToolUseFailure",
          "postToolUse",
          "postToolUseFailure",
          "afterShellExecution",
          "afterMCPExecution",
          "afterFileEdit");

  /**
   * @throws WritException {@code CLI-033} for what is no such input, {@code CLI-034} for another
   *     event
   */
  static HookEvent read(HookAgent agent, byte[] said) {
    if (!(parsed(said) instanceof JsonValue.Obj all)) {
      throw refused("it is no object");
    }
    String name =
        text(all, "hook_event_name")
            .or(() -> text(all, "hookEventName"))
            .orElseThrow(() -> refused("hook_event_name is missing"));
    boolean before = BEFORE.contains(name);
    if (!before && !AFTER.contains(name)) {
      throw new WritException(CliError.HOOK_EVENT, shown(name));
    }
    return new HookEvent(
        agent,
        name,
        !before,
        tool(name, all),
        input(name, all),
        text(all, "session_id")
            .or(() -> text(all, "sessionId"))
            .or(() -> text(all, "conversation_id"))
            .orElseThrow(() -> refused("the session is missing")),
        text(all, "tool_use_id").or(() -> text(all, "generation_id")),
        text(all, "permission_mode"),
        text(all, "cwd").filter(s -> !s.isEmpty()).or(() -> root(all)),
        Optional.ofNullable(all.get("tool_response"))
            .or(() -> Optional.ofNullable(all.get("tool_output")))
            .or(() -> Optional.ofNullable(all.get("result_json")))
            .or(() -> Optional.ofNullable(all.get("output"))));
  }

  private static JsonValue parsed(byte[] said) {
    try {
      return Jcs.parse(said);
    } catch (WritException e) {
      throw new WritException(CliError.HOOK_INPUT, e.found(), e);
    }
  }

  /** Cursor's events of one kind of tool do not name it. */
  private static String tool(String event, JsonValue.Obj all) {
    return switch (event) {
      case "beforeShellExecution", "afterShellExecution" -> "Shell";
      case "beforeReadFile" -> "Read";
      case "afterFileEdit" -> "Edit";
      case "beforeMCPExecution", "afterMCPExecution" ->
          "MCP:" + text(all, "tool_name").orElseThrow(() -> refused("tool_name is missing"));
      default ->
          text(all, "tool_name")
              .filter(tool -> !tool.isEmpty())
              .orElseThrow(() -> refused("tool_name is missing"));
    };
  }

  private static JsonValue.Obj input(String event, JsonValue.Obj all) {
    return switch (event) {
      case "beforeShellExecution", "afterShellExecution", "beforeReadFile", "afterFileEdit" -> all;
      default -> {
        JsonValue input = all.get("tool_input");
        if (input instanceof JsonValue.Str text) { // Cursor sends JSON in a text
          input = parsed(text.value().getBytes(StandardCharsets.UTF_8));
        }
        if (input instanceof JsonValue.Obj object) {
          yield object;
        }
        throw refused("tool_input is no object");
      }
    };
  }

  private static Optional<String> root(JsonValue.Obj all) {
    return all.get("workspace_roots") instanceof JsonValue.Arr roots
            && !roots.items().isEmpty()
            && roots.items().getFirst() instanceof JsonValue.Str root
        ? Optional.of(root.value())
        : Optional.empty();
  }

  static Optional<String> text(JsonValue.Obj object, String name) {
    return object.get(name) instanceof JsonValue.Str text
        ? Optional.of(text.value())
        : Optional.empty();
  }

  static WritException refused(String found) {
    return new WritException(CliError.HOOK_INPUT, found);
  }

  /** The refusal of an input that is not what is known of the tool's. */
  WritException unknown(String member) {
    return refused(shown(tool) + " has no member " + member + " of the known form");
  }

  static String shown(String text) {
    return text.length() > 60 ? text.substring(0, 60) + "…" : text;
  }
}
