package dev.writ.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Servers put a heading above what went wrong, so the first line alone says nothing. */
class WhatAServerSaysOfAFailureIsPrintedTest {
  private static final String SERVER =
      """
      import json, sys
      for line in sys.stdin:
          m = json.loads(line)
          if m.get("method") == "initialize":
              r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                   "serverInfo": {"name": "s", "version": "1"}}
          elif m.get("method") == "tools/list":
              r = {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]}
          elif m.get("method") == "tools/call":
              text = "### Error\\n\\nThe page is gone.\\n\\u001b[31mred"
              r = {"content": [{"type": "text", "text": text}], "isError": True}
          elif "id" in m:
              print(json.dumps({"jsonrpc": "2.0", "id": m["id"],
                                "error": {"code": -32601, "message": "no"}}), flush=True)
              continue
          else:
              continue
          print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
      """;

  @TempDir Path dir;

  @Test
  void allLinesOfIt() throws IOException {
    String home = dir.resolve("home").toString();
    Path script = Files.writeString(dir.resolve("server.py"), SERVER);
    assertThat(Run.of("init", "--home", home).status()).isZero();
    Run added = AddedServer.add(home, "web", script);
    assertThat(added.status()).as(added.err()).isZero();
    assertThat(added.out()).contains("it can write to /tmp and /workspace alone", "--state");
    AddedServer.activate(home);
    Run called = Run.of("run", "web/do", "--home", home, "--run", "r");
    assertThat(called.status()).isEqualTo(1);
    assertThat(called.err())
        .contains("tool-error: ### Error", "  The page is gone.")
        .doesNotContain("\u001b");
  }
}
