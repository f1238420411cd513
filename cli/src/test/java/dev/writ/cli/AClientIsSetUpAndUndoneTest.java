package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** {@code writ setup}, on files below a home of a user who has none yet, and who has. */
class AClientIsSetUpAndUndoneTest {
  @TempDir Path folder;
  private Path user;
  private String home;

  @BeforeEach
  void init() throws IOException {
    user = Files.createDirectories(folder.resolve("ann"));
    home = folder.resolve("data").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
  }

  private Run setup(String... args) {
    List<String> all = new ArrayList<>(List.of("--home", home, "setup"));
    all.addAll(List.of(args));
    all.addAll(List.of("--command", "/opt/writ/writ"));
    return Run.in(Map.of("HOME", user.toString()), all.toArray(String[]::new));
  }

  private Run done(String... args) {
    Run run = setup(args);
    assertThat(run.status()).as(run.err()).isZero();
    return run;
  }

  private List<String> files() throws IOException {
    try (var all = Files.walk(user)) {
      return all.filter(Files::isRegularFile).map(Path::toString).sorted().toList();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"claude-code", "claude-desktop", "cursor", "vscode", "codex"})
  void whereThereWasNothingNothingIsLeft(String client) throws IOException {
    assertThat(done(client, "--dry-run").out())
        .contains("would be changed", "/opt/writ/writ", home);
    assertThat(files()).isEmpty();
    done(client);
    assertThat(files()).isNotEmpty();
    assertThat(done(client).out()).contains("as it should be");
    done(client, "--undo");
    assertThat(files()).isEmpty();
    assertThat(done(client, "--undo").out()).contains("nothing to undo");
  }

  @Test
  void theBytesFromBeforeComeBackWithTheirRights() throws IOException {
    Path file = user.resolve(".claude.json");
    String before = "{ \"a\":1,\r\n\t\"b\" : [ ] }";
    Files.writeString(file, before);
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
    done("claude-code");
    assertThat(Files.readString(file)).startsWith("{ \"a\":1,\r\n\t\"b\" : [ ],");
    assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
        .isEqualTo("rw-r-----");
    assertThat(Files.readString(user.resolve(".claude.json.before-writ"))).isEqualTo(before);
    done("claude-code", "--undo");
    assertThat(Files.readString(file)).isEqualTo(before);
    assertThat(files()).containsExactly(file.toString());
  }

  /** Clients write their own files, too: what they wrote since is not taken back. */
  @Test
  void whatWasChangedSinceStays() throws IOException {
    Path file = Files.writeString(user.resolve(".claude.json"), "{\n  \"a\": 1\n}\n");
    done("claude-code");
    Files.writeString(file, Files.readString(file).replace("\"a\": 1", "\"a\": 2"));
    Run undone = done("claude-code", "--undo");
    assertThat(undone.out()).contains("the backup stays");
    assertThat(Files.readString(file)).contains("\"a\": 2").doesNotContain("/opt/writ");
    assertThat(user.resolve(".claude.json.before-writ")).exists();
  }

  /** A second setup does not take its own entry for what was there before. */
  @Test
  void anotherDataDirectoryIsUndoneToTheFirstState() throws IOException {
    Path file = Files.createDirectories(user.resolve(".cursor")).resolve("mcp.json");
    String before = "{\"mcpServers\": {\"x\": {\"command\": \"y\"}}}";
    Files.writeString(file, before);
    done("cursor");
    String first = home;
    home = folder.resolve("other").toString();
    assertThat(Run.of("--home", home, "init").status()).isZero();
    done("cursor");
    assertThat(Files.readString(file)).contains(home).doesNotContain(first + "\"");
    done("cursor", "--undo");
    assertThat(Files.readString(file)).isEqualTo(before);
  }

  @Test
  void aLinkIsFollowedAndStaysOne() throws IOException {
    Path real = Files.writeString(folder.resolve("dotfiles.json"), "{}\n");
    Path link = Files.createSymbolicLink(user.resolve(".claude.json"), real);
    done("claude-code");
    assertThat(link).isSymbolicLink();
    assertThat(Files.readString(real)).contains("/opt/writ/writ");
  }

  @Test
  void aRefusalWritesNothing() throws IOException {
    Path config = Files.createDirectories(user.resolve(".codex")).resolve("config.toml");
    Files.writeString(config, "[mcp_servers.writ]\ncommand = \"mine\"\n");
    Run foreign = setup("codex");
    assertThat(foreign.status()).isEqualTo(1);
    assertThat(foreign.err()).startsWith("writ: CLI-036");
    Files.writeString(config, "[broken");
    Run broken = setup("codex");
    assertThat(broken.status()).isEqualTo(4);
    assertThat(broken.err()).startsWith("writ: CLI-035");
    assertThat(files()).containsExactly(config.toString());
    Run unknown = setup("emacs");
    assertThat(unknown.status()).isEqualTo(2);
  }

  /** Without the tool in policy each call of the agent would be denied. */
  @Test
  void hooksComeOnceThePolicyHasTheirTool() throws IOException {
    Run without = done("claude-code");
    assertThat(without.out()).contains("No hooks", "name: agent-hook", "package: \"sha256:");
    String page =
        Files.readString(Path.of(System.getProperty("writ.root", "..")).resolve("spec/hooks.md"));
    String printed =
        without
            .out()
            .lines()
            .dropWhile(line -> !line.startsWith("Under `requirements`"))
            .skip(1)
            .takeWhile(line -> line.startsWith("  "))
            .map(line -> line.substring(2))
            .collect(Collectors.joining("\n"));
    assertThat(page).contains("requirements:\n" + printed + "\n```");
    assertThat(user.resolve(".claude/settings.json")).doesNotExist();

    Path policy = Path.of(home).resolve("policy.yaml");
    String entry =
        without.out().lines().filter(l -> l.contains("name: agent-hook")).findFirst().orElseThrow();
    Files.writeString(
        policy,
        Files.readString(policy)
                .replace("word-count]", "word-count, agent-hook]")
                .replace("budgets:\n", entry + "\nbudgets:\n")
            + "  - { effect: { tool: agent-hook }, require: { cel: \"true\" } }\n");
    Run activated = Run.of("--home", home, "policy", "activate", policy.toString());
    assertThat(activated.status()).as(activated.err()).isZero();
    done("claude-code", "--reports");
    assertThat(Files.readString(user.resolve(".claude/settings.json")))
        .contains("PreToolUse", "PostToolUse", "hook claude-code", "onFailure");
    done("claude-code", "--undo");
    assertThat(files()).isEmpty();
  }
}
