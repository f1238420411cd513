package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.cli.rules.Project;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * From the shell: a server at an address that wants a login is added through a browser, judged,
 * called over every surface, replayed from its record and removed; its tokens are in one file.
 */
class AnMcpServerElsewhereIsPutBehindWritTest {
  private static final String TOKEN = "token-nobody-may-see-";

  @TempDir Path dir;
  private Process server;
  private String url;
  private String home;

  @BeforeEach
  void start() throws IOException {
    Path script =
        Project.root().resolve("tools/src/test/resources/dev/writ/tools/mcp/elsewhere.py");
    server = new ProcessBuilder("python3", script.toString()).start();
    url =
        "http://127.0.0.1:"
            + new BufferedReader(
                    new InputStreamReader(server.getInputStream(), StandardCharsets.UTF_8))
                .readLine()
            + "/mcp";
    home = dir.resolve("home").toString();
    assertThat(Run.of("init", "--home", home).status()).isZero();
  }

  @AfterEach
  void stop() {
    server.destroyForcibly();
  }

  /** A browser of a person who agrees. */
  private Map<String, String> browser() throws IOException {
    Path program = dir.resolve("browser");
    Files.writeString(
        program,
        "#!/usr/bin/env python3\nimport sys, urllib.request\n"
            + "urllib.request.urlopen(sys.argv[1]).read()\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwx------"));
    return Map.of("BROWSER", program.toString());
  }

  private Run run(String... args) {
    List<String> all = new ArrayList<>(List.of(args));
    all.addAll(List.of("--home", home));
    return Run.of(all.toArray(String[]::new));
  }

  @Test
  void itIsAddedThroughABrowserCalledReplayedAndRemoved() throws IOException {
    Run without = run("mcp", "add", "crm", url, "--no-login");
    assertThat(without.err()).contains("TOL-278");
    Run code = run("mcp", "add", "crm", url, "--code", dir.toString());
    assertThat(code.err()).contains("--code is for a program");
    Run added = Run.in(browser(), "mcp", "add", "crm", url, "--home", home);
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(added.out()).contains("Adds two numbers.");
    assertThat(added.err()).contains("Agree at this address");

    String[] call = {
      "run", "crm/add", "--param-json", "a=2", "--param-json", "b=3", "--run", "r", "--home", home
    };
    assertThat(Run.of(call).err()).as("not in force").contains("DENIED");
    String policy = home + "/policy.yaml";
    assertThat(run("policy", "activate", policy).status()).isZero();
    Run called = Run.of(call);
    assertThat(called.out()).as(called.err()).contains("5 for Bearer [secret]");
    assertThat(run("mcp", "test", "crm").out()).contains("2026-07-28", "as approved");
    assertThat(run("mcp", "list").out()).contains(url);
    assertThat(run("mcp", "show", "crm").out()).contains("server  " + url);
    assertThat(run("mcp", "refresh", "crm").status()).isZero();
    assertThat(overMcp()).containsPattern("\"text\":\"5 for Bearer \\[secret]\"");

    Run more = Run.in(browser(), "mcp", "login", "crm", "--scope", "crm:write", "--home", home);
    assertThat(more.out()).as(more.err()).contains("policy activate");
    assertThat(run("policy", "activate", policy).status()).isZero();
    assertThat(run("mcp", "show", "crm", "--json").out()).contains("[\"crm:write\"]");

    assertThat(run("close", "r").status()).isZero();
    String bundle = dir.resolve("r.writ").toString();
    assertThat(run("export", "r", "-o", bundle).status()).isZero();
    server.destroyForcibly();
    Run replayed = Run.of("replay", bundle, "--trust", home + "/trust.jwks");
    assertThat(replayed.status()).as(replayed.out() + replayed.err()).isZero();
    assertThat(withToken()).containsExactly(Path.of(home, "secrets", "mcp-crm-oauth"));

    assertThat(run("mcp", "remove", "crm").out()).contains("mcp-crm-oauth is deleted here");
    assertThat(withToken()).isEmpty();
    assertThat(run("policy", "activate", policy).status()).isZero();
    assertThat(run("audit").status()).isZero();
  }

  @Test
  void withoutABrowserTheAddressOfTheLastPageIsPasted() {
    Run wrong =
        Run.withInput(
            "http://127.0.0.1:1/callback?code=c1&state=guessed\n",
            "mcp",
            "add",
            "crm",
            url,
            "--no-browser",
            "--home",
            home);
    assertThat(wrong.err()).contains("/authorize?", "TOL-287");
    Run nothing = Run.withInput("", "mcp", "add", "crm", url, "--no-browser", "--home", home);
    assertThat(nothing.err()).contains("CLI-071");
    assertThat(nothing.status()).isNotZero();
  }

  @Test
  void aServerThatIsNotAddedAfterItsLoginLeavesNoTokens() throws IOException {
    Run refused = Run.in(browser(), "mcp", "add", "crm", url, "--role", "nobody", "--home", home);
    assertThat(refused.status()).as(refused.out() + refused.err()).isNotZero();
    assertThat(refused.err()).contains("Agree at this address");
    assertThat(withToken()).isEmpty();
    Run added = Run.in(browser(), "mcp", "add", "crm", url, "--home", home);
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(withToken()).containsExactly(Path.of(home, "secrets", "mcp-crm-oauth"));
  }

  /** All files with a token in them. */
  private List<Path> withToken() throws IOException {
    try (Stream<Path> files = Files.walk(dir)) {
      return files.filter(Files::isRegularFile).filter(this::hasToken).toList();
    }
  }

  private boolean hasToken(Path file) {
    try {
      return new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1).contains(TOKEN);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String overMcp() {
    String lines =
        """
        {"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
        {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"crm","arguments":{"a":2,"b":3}}}
        """;
    Run session = Run.withInput(lines, "mcp", "--home", home);
    assertThat(session.status()).as(session.err()).isZero();
    return session.out();
  }
}
