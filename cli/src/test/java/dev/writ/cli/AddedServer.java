package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A home with an MCP server of Python behind Writ, from the shell. */
final class AddedServer {
  private AddedServer() {}

  /**
   * A new home with the server, in force.
   *
   * @param script the server's program
   * @param options of {@code writ mcp add}
   * @return the home
   */
  static String in(Path dir, String name, Path script, String... options) {
    String home = dir.resolve("home").toString();
    assertThat(Run.of("init", "--home", home).status()).isZero();
    Run added = add(home, name, script, options);
    assertThat(added.status()).as(added.err()).isZero();
    activate(home);
    return home;
  }

  /** {@code writ mcp add} alone. */
  static Run add(String home, String name, Path script, String... options) {
    List<String> words = new ArrayList<>(List.of("mcp", "add", name, "--home", home));
    words.addAll(List.of("--file", script.toString()));
    words.addAll(List.of(options));
    words.addAll(List.of("--", "python3", "/tool/" + script.getFileName()));
    return Run.of(words.toArray(String[]::new));
  }

  /** Puts the policy's file in force. */
  static void activate(String home) {
    Run done = Run.of("policy", "activate", home + "/policy.yaml", "--home", home);
    assertThat(done.status()).as(done.err()).isZero();
  }
}
