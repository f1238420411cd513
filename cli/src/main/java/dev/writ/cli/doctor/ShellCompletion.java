package dev.writ.cli.doctor;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Where a user's shell looks for what completes a command.
 *
 * @param name of the shell
 * @param file of the user's own
 * @param shared files of the whole machine that do it for every user
 */
public record ShellCompletion(String name, Path file, List<Path> shared) {
  /**
   * The shell that the environment names; empty for one whose completion is set up in another way,
   * and for users who have no home.
   */
  public static Optional<ShellCompletion> of(Map<String, String> environment) {
    String shell = environment.getOrDefault("SHELL", "");
    String home = environment.getOrDefault("HOME", "");
    if (home.isEmpty()) {
      return Optional.empty();
    }
    return switch (shell.substring(shell.lastIndexOf('/') + 1)) {
      case "bash" ->
          Optional.of(
              new ShellCompletion(
                  "bash",
                  folder(environment, "XDG_DATA_HOME", home + "/.local/share")
                      .resolve("bash-completion/completions/writ"),
                  List.of(Path.of("/usr/share/bash-completion/completions/writ"))));
      case "fish" ->
          Optional.of(
              new ShellCompletion(
                  "fish",
                  folder(environment, "XDG_CONFIG_HOME", home + "/.config")
                      .resolve("fish/completions/writ.fish"),
                  List.of(Path.of("/usr/share/fish/vendor_completions.d/writ.fish"))));
      default -> Optional.empty();
    };
  }

  private static Path folder(Map<String, String> environment, String name, String otherwise) {
    String named = environment.getOrDefault(name, "");
    return Path.of(named.isEmpty() ? otherwise : named);
  }

  /** Whether commands are completed already. */
  public boolean isThere() {
    return Files.exists(file) || shared.stream().anyMatch(Files::exists);
  }
}
