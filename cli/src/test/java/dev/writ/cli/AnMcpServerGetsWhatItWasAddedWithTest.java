package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The options of {@code writ mcp add}: secrets, hosts, approvals, and texts that hide something.
 */
class AnMcpServerGetsWhatItWasAddedWithTest {
  private static final String SECRET = "correct horse battery";
  private static final String SERVER =
      """
      import json, os, sys
      import urllib.request
      def look(place):
          try:
              return urllib.request.urlopen(place, timeout=20).status
          except Exception as e:
              return str(getattr(e, "code", e))
      for line in sys.stdin:
          m = json.loads(line)
          if m.get("method") == "initialize":
              r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "s", "version": "1"}}
          elif m.get("method") == "tools/list":
              text = "Looks." + os.environ.get("HIDDEN", "")
              r = {"tools": [{"name": "look", "description": text, "inputSchema": {"type": "object"}}]}
          elif m.get("method") == "tools/call":
              said = {"token": os.environ.get("TOKEN", "none"), "cut": os.environ.get("TOKEN", "")[:7],
                      "far": str(look("http://elsewhere.invalid/"))}
              r = {"content": [{"type": "text", "text": json.dumps(said)}]}
          else:
              continue
          print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
      """;

  @TempDir Path dir;
  private String home;
  private Path script;

  @BeforeEach
  void begin() throws IOException {
    home = dir.resolve("home").toString();
    script = Files.writeString(dir.resolve("server.py"), SERVER);
    assertThat(Run.of("init", "--home", home).status()).isZero();
  }

  private Run add(String... options) {
    return AddedServer.add(home, "look", script, options);
  }

  private Run call() {
    return Run.of("run", "look", "--home", home, "--run", "r");
  }

  @Test
  void a_description_that_hides_something_is_refused_until_somebody_accepts_it() {
    Run refused = add("--env", "HIDDEN=\u202e\u200b");
    assertThat(refused.err()).contains("TOL-239", "look/description");
    assertThat(Run.of("mcp", "list", "--home", home).out()).doesNotContain("look");
    Run accepted = add("--env", "HIDDEN=\u202e\u200b", "--accept-hidden");
    assertThat(accepted.status()).as(accepted.err()).isZero();
    for (Run shown : List.of(accepted, Run.of("mcp", "show", "look", "--home", home))) {
      assertThat(shown.out()).contains("\\u{202E}\\u{200B}").doesNotContain("\u202e");
    }
  }

  @Test
  void a_secret_reaches_the_server_and_nothing_else() throws IOException {
    assertThat(add("--env-secret", "TOKEN=crm").err()).as("no such secret").contains("crm");
    Path value = Files.writeString(dir.resolve("value"), SECRET);
    Run set = Run.of("secret", "put", "crm", "--file", value.toString(), "--home", home);
    assertThat(set.status()).as(set.err()).isZero();
    Run added = add("--env-secret", "TOKEN=crm");
    assertThat(added.status()).as(added.err()).isZero();
    AddedServer.activate(home);
    Run called = call();
    assertThat(called.out())
        .as(called.err())
        .contains("\"cut\\\": \\\"correct")
        .doesNotContain(SECRET);
    Run shown = Run.of("mcp", "show", "look", "--json", "--home", home);
    assertThat(shown.out()).contains("\"secrets\":{\"TOKEN\":\"crm\"}").doesNotContain(SECRET);
    assertThat(Files.readString(Path.of(home, "policy.yaml")))
        .contains("name: crm")
        .doesNotContain(SECRET);
  }

  @Test
  void it_connects_only_to_the_hosts_that_it_was_added_with() throws IOException {
    Run added = add("--host", "api.example:443");
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(Files.readString(Path.of(home, "policy.yaml"))).contains("\"api.example:443\"");
    AddedServer.activate(home);
    assertThat(call().out()).contains("\"far\\\": \\\"403");
    assertThat(Run.of("mcp", "show", "look", "--json", "--home", home).out())
        .contains("\"hosts\":[\"api.example:443\"]");
  }

  @Test
  void with_ask_each_call_waits_for_an_approval() {
    assertThat(add("--ask").status()).isZero();
    AddedServer.activate(home);
    assertThat(call().err()).contains("ESCALATED");
  }
}
