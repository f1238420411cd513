package dev.writ.cli.hook;

import dev.writ.cli.base.Arguments;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** A coding agent with hooks. */
public enum HookAgent {
  CLAUDE_CODE,
  CODEX,
  CURSOR,
  VSCODE;

  /** As the command line and policy write it. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * @throws dev.writ.canonicalize.WritException {@code CLI-001} for any other
   */
  static HookAgent of(String text) {
    List<String> all = Stream.of(values()).map(HookAgent::text).toList();
    return values()[all.indexOf(Arguments.oneOf("AGENT", text, all))];
  }

  /** Whether it can ask its user on behalf of a hook of that event. */
  boolean canAsk(String event) {
    return switch (this) {
      case CLAUDE_CODE, VSCODE -> true;
      case CODEX -> false;
      case CURSOR -> !event.equals("preToolUse");
    };
  }
}
