package dev.writ.cli.setup;

import dev.writ.cli.base.Arguments;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** A client of agents whose configuration can be written. */
enum SetupClient {
  CLAUDE_CODE,
  CLAUDE_DESKTOP,
  CURSOR,
  VSCODE,
  CODEX;

  /** As the command line writes it. */
  String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }

  /**
   * @throws dev.writ.canonicalize.WritException {@code CLI-001} for any other
   */
  static SetupClient of(String text) {
    List<String> all = Stream.of(values()).map(SetupClient::text).toList();
    return values()[all.indexOf(Arguments.oneOf("CLIENT", text, all))];
  }
}
