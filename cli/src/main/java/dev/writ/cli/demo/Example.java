package dev.writ.cli.demo;

import dev.writ.canonicalize.json.JsonValue;

/**
 * A command that is ready to be pasted into a shell.
 *
 * @param what it shows
 * @param command for a POSIX shell on the demo's own host
 * @param played whether the demo runs it itself and prints what it answers
 */
public record Example(String what, String command, boolean played) {
  public static Example played(String what, String command) {
    return new Example(what, command, true);
  }

  /** One that has no end, writes a file, or answers more than anybody wants to read. */
  public static Example shown(String what, String command) {
    return new Example(what, command, false);
  }

  public JsonValue toJson() {
    return JsonValue.object()
        .put("what", what)
        .put("command", command)
        .put("played", played)
        .build();
  }
}
