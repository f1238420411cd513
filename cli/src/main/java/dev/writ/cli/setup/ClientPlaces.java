package dev.writ.cli.setup;

import dev.writ.canonicalize.WritException;
import dev.writ.cli.error.CliError;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Where clients keep the configuration of their user (spec/setup.md).
 *
 * @param environment as a process of that system has it
 */
record ClientPlaces(Platform platform, Map<String, String> environment) {

  /** A family of operating systems. */
  enum Platform {
    LINUX,
    MACOS,
    WINDOWS;

    /** By the name that Java gives it. */
    static Platform of(String osName) {
      String name = osName.toLowerCase(Locale.ROOT);
      return name.startsWith("windows") ? WINDOWS : name.startsWith("mac") ? MACOS : LINUX;
    }
  }

  /** The file with MCP servers. */
  String servers(SetupClient client) {
    return switch (client) {
      case CLAUDE_CODE -> set("CLAUDE_CONFIG_DIR").orElseGet(this::home) + at(".claude.json");
      case CLAUDE_DESKTOP -> application("Claude") + at("claude_desktop_config.json");
      case CURSOR -> home() + at(".cursor", "mcp.json");
      case VSCODE -> application("Code") + at("User", "mcp.json");
      case CODEX -> codex() + at("config.toml");
    };
  }

  /** The file with hooks; empty for a client that has none. */
  Optional<String> hooks(SetupClient client) {
    return switch (client) {
      case CLAUDE_CODE ->
          Optional.of(
              set("CLAUDE_CONFIG_DIR").orElseGet(() -> home() + at(".claude"))
                  + at("settings.json"));
      case CLAUDE_DESKTOP -> Optional.empty();
      case CURSOR -> Optional.of(home() + at(".cursor", "hooks.json"));
      case VSCODE -> Optional.of(home() + at(".copilot", "hooks", "writ.json"));
      case CODEX -> Optional.of(codex() + at("hooks.json"));
    };
  }

  private String codex() {
    return set("CODEX_HOME").orElseGet(() -> home() + at(".codex"));
  }

  private String application(String name) {
    return switch (platform) {
      case LINUX -> set("XDG_CONFIG_HOME").orElseGet(() -> home() + at(".config")) + at(name);
      case MACOS -> home() + at("Library", "Application Support", name);
      case WINDOWS -> required("APPDATA") + at(name);
    };
  }

  private String home() {
    return required(platform == Platform.WINDOWS ? "USERPROFILE" : "HOME");
  }

  private Optional<String> set(String variable) {
    return Optional.ofNullable(environment.get(variable)).filter(value -> !value.isEmpty());
  }

  private String required(String variable) {
    return set(variable)
        .orElseThrow(() -> new WritException(CliError.SETUP_PLACE, variable + " is not set"));
  }

  private String at(String... names) {
    String separator = platform == Platform.WINDOWS ? "\\" : "/";
    return separator + String.join(separator, names);
  }
}
