package dev.writ.tools.mcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Scope;
import dev.writ.sandbox.host.Host;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.mcp.protocol.Patience;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The folder that a server keeps (spec/tool-mcp.md, Its state): real servers in the sandbox. */
class AServerFindsItsStateAgainTest {
  private static final Patience PATIENCE = new Patience(60_000, 60_000);

  private static final String SERVER =
      """
      import json, os, sys
      def do(what, path, text):
          try:
              if what == "append":
                  with open(path, "a") as f:
                      f.write(text)
                  with open(path) as f:
                      return f.read()
              elif what == "list":
                  return ",".join(sorted(os.listdir(path)))
              elif what == "link":
                  os.symlink(text, path)
              elif what == "hide":
                  os.mkdir(path)
                  with open(path + "/in", "w") as f:
                      f.write(text)
                  os.chmod(path + "/in", 0)
                  os.chmod(path, 0)
              elif what == "grow":
                  with open(path, "wb") as f:
                      f.write(b"x" * int(text))
              elif what == "shrink":
                  os.unlink(path)
              return "done"
          except OSError as e:
              return type(e).__name__
      for line in sys.stdin:
          m = json.loads(line)
          if m.get("method") == "initialize":
              r = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}}
          elif m.get("method") == "tools/list":
              r = {"tools": [{"name": "do", "inputSchema": {"type": "object"}}]}
          elif m.get("method") == "tools/call":
              said = do(*m["params"]["arguments"]["step"])
              r = {"content": [{"type": "text", "text": said}]}
          elif "id" in m:
              print(json.dumps({"jsonrpc": "2.0", "id": m["id"],
                                "error": {"code": -32601, "message": "no"}}), flush=True)
              continue
          else:
              continue
          print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "result": r}), flush=True)
      """;

  @TempDir Path outside;
  private TestHosts hosts;
  private RunningServers servers;

  @BeforeEach
  void open() {
    hosts = TestHosts.open((_, _) -> List.of(), Optional.empty());
    servers = new RunningServers(hosts::host, RunningServers.Terms.STANDARD);
  }

  @AfterEach
  void close() {
    servers.close();
    hosts.close();
  }

  private static UpstreamPackage server(String name) {
    TreeMap<String, byte[]> own = new TreeMap<>();
    own.put("server.py", SERVER.getBytes(StandardCharsets.UTF_8));
    ServerSpec spec =
        new ServerSpec(
                List.of("python3", "/tool/server.py"),
                new TreeMap<>(),
                new TreeMap<>(),
                List.of(),
                List.of(),
                60_000)
            .started(local ->
                local
                    .speaking(Optional.of("2025-11-25"))
                    .keeping(KeptPlaces.NONE.withState(ServerState.BYTES_MIN)));
    JsonValue.Obj tool =
        JsonValue.object()
            .put("name", "do")
            .put("inputSchema", JsonValue.object().put("type", "object").build())
            .build();
    return UpstreamPackage.of(name, "1.0.0", spec, PinnedTools.of(List.of(tool)), own);
  }

  private static ServerPlace place(String tenant, String run) {
    return new ServerPlace(
        new Scope(tenant, run, "alice"), "default", 256L << 20, false, List.of(), List.of(), true);
  }

  private String of(String name, String tenant, String run, String... step)
      throws InterruptedException {
    return servers.work(server(name), place(tenant, run), server -> said(server, step));
  }

  private String call(String run, String what, String path, String text)
      throws InterruptedException {
    return of("memory", "acme", run, what, path, text);
  }

  private static String said(ReadyServer server, String... step) throws InterruptedException {
    JsonValue.Obj arguments =
        JsonValue.object().putList("step", List.of(step), JsonValue::of).build();
    JsonValue.Obj result =
        server.call("do", arguments, Optional.empty(), PATIENCE).result().orElseThrow();
    return ToolAnswer.read(result).text();
  }

  private Path tree(String name) {
    return ServerState.existing(hosts.host(), "acme", name).orElseThrow();
  }

  @Test
  void two_starts_see_the_same_file_and_no_other_server_or_tenant_does() throws Exception {
    assertThat(call("one", "append", "/state/a", "x")).isEqualTo("x");
    servers.close();
    servers = new RunningServers(hosts::host, RunningServers.Terms.STANDARD);
    assertThat(call("one", "append", "/state/a", "y")).isEqualTo("xy");
    assertThat(call("two", "append", "/state/a", "z"))
        .as("another session, whose user in the sandbox is another")
        .isEqualTo("xyz");
    assertThat(of("other", "acme", "one", "list", "/state", "")).isEmpty();
    assertThat(of("memory", "globex", "one", "list", "/state", "")).isEmpty();
    assertThat(of("other", "acme", "one", "list", tree("memory").toString(), ""))
        .isEqualTo("FileNotFoundError");
    assertThat(call("two", "list", "/state", "")).isEqualTo("a");
  }

  @Test
  void another_session_waits_for_the_call_at_work_and_then_takes_its_turn() throws Exception {
    CompletableFuture<String> second = new CompletableFuture<>();
    ReadyServer first =
        servers.work(
            server("memory"),
            place("acme", "one"),
            server -> {
              Thread.ofVirtual()
                  .start(() -> {
                    try {
                      second.complete(call("two", "append", "/state/a", "2"));
                    } catch (InterruptedException | RuntimeException e) {
                      second.completeExceptionally(e);
                    }
                  });
              assertThat(said(server, "append", "/state/a", "1")).isEqualTo("1");
              assertThat(said(server, "append", "/state/a", "1")).isEqualTo("11");
              assertThat(server.isSound()).isTrue();
              return server;
            });
    assertThat(second.get()).isEqualTo("112");
    assertThat(first.isSound()).as("one process at a time has it").isFalse();
  }

  @Test
  void a_second_process_is_refused_by_the_name_of_the_first_until_that_lets_go() throws Exception {
    call("one", "append", "/state/a", "1");
    RunningServers others = new RunningServers(hosts::host, RunningServers.Terms.STANDARD);
    try {
      assertThatThrownBy(() ->
              others.work(server("memory"), place("acme", "two"), server -> said(server, "list")))
          .isInstanceOfSatisfying(
              WritException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ToolsError.STATE_TAKEN);
                assertThat(e.found())
                    .contains(
                        "memory", "process " + ProcessHandle.current().pid(), "run one of alice");
              });
      assertThatThrownBy(() -> ServerState.delete(hosts.host(), "acme", "memory"))
          .isInstanceOfSatisfying(
              WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.STATE_TAKEN));
      servers.close();
      String said =
          others.work(
              server("memory"),
              place("acme", "two"),
              server -> said(server, "append", "/state/a", "2"));
      assertThat(said).isEqualTo("12");
    } finally {
      others.close();
    }
    assertThat(ServerState.delete(hosts.host(), "acme", "memory")).isTrue();
    assertThat(ServerState.existing(hosts.host(), "acme", "memory")).isEmpty();
  }

  @Test
  void links_in_it_lead_nobody_outside_when_it_is_given_counted_or_deleted() throws Exception {
    Path large = Files.write(outside.resolve("large"), new byte[4 << 20]);
    Files.createDirectory(outside.resolve("inner"));
    Object owner = Files.getAttribute(large, "unix:uid");
    call("one", "link", "/state/file", large.toString());
    call("one", "link", "/state/folder", outside.toString());
    call("one", "link", "/state/up", "../../../../../../../../etc");
    assertThat(call("one", "hide", "/state/hidden", "secret")).isEqualTo("done");
    assertThat(call("two", "list", "/state", ""))
        .as("of another user now, and not full, since what a link leads to is not counted")
        .isEqualTo("file,folder,hidden,up");
    assertThat(Files.getAttribute(large, "unix:uid")).isEqualTo(owner);
    assertThat(Files.getAttribute(outside, "unix:uid")).isEqualTo(owner);
    assertThat(Files.getAttribute(Path.of("/etc"), "unix:uid")).isEqualTo(0);
    if (Host.look().root()) {
      for (String name : List.of("file", "folder", "hidden", "hidden/in")) {
        assertThat(
                Files.getAttribute(
                    tree("memory").resolve(name), "unix:uid", LinkOption.NOFOLLOW_LINKS))
            .as(name)
            .isEqualTo(Files.getAttribute(tree("memory"), "unix:uid"));
      }
      assertThat(Files.getPosixFilePermissions(tree("memory"))).hasSize(3);
    }
    servers.close();
    assertThat(ServerState.delete(hosts.host(), "acme", "memory")).isTrue();
    assertThat(large).hasSize(4 << 20);
    assertThat(outside.resolve("inner")).exists();
  }

  @Test
  void a_full_one_refuses_the_next_call_and_the_next_start_until_there_is_room() throws Exception {
    call("one", "grow", "/state/small", "1000");
    try {
      call("one", "grow", "/state/large", "2000000");
    } catch (WritException e) {
      assertThat(e.code()).as("it was seen before the answer").isEqualTo(ToolsError.STATE_FULL);
    }
    for (String run : List.of("one", "two")) {
      assertThatThrownBy(() -> call(run, "shrink", "/state/small", ""))
          .isInstanceOfSatisfying(
              WritException.class,
              e -> {
                assertThat(e.code()).isEqualTo(ToolsError.STATE_FULL);
                assertThat(e.found()).contains("1048576", tree("memory").toString());
              });
    }
    assertThat(tree("memory").resolve("small")).as("nothing was called").exists();
    Files.delete(tree("memory").resolve("large"));
    assertThat(call("three", "list", "/state", "")).isEqualTo("small");
  }

  @Test
  void a_server_that_is_not_approved_yet_has_an_empty_one_that_ends_with_it() throws Exception {
    call("one", "append", "/state/a", "1");
    UpstreamProbe.look(
        hosts.host(),
        server("memory").spec(),
        server("memory").own(),
        new Scope("acme", "probe", "alice"),
        List.of());
    ServerPlace tried =
        new ServerPlace(
            new Scope("acme", "two", "alice"),
            "default",
            256L << 20,
            false,
            List.of(),
            List.of(),
            false);
    String said =
        servers.work(server("memory"), tried, server -> said(server, "append", "/state/a", "2"));
    assertThat(said).as("while the approved one goes on").isEqualTo("2");
    assertThat(call("one", "append", "/state/a", "3")).isEqualTo("13");
  }

  @Test
  void what_it_sees_of_this_machine_cannot_lie_where_its_state_does() throws IOException {
    for (String path : List.of("/state", "/state/in")) {
      assertThatThrownBy(
              () -> server("memory").spec().started(local -> local.reading(List.of(path))))
          .isInstanceOfSatisfying(
              WritException.class,
              e -> assertThat(e.code()).isEqualTo(ToolsError.UPSTREAM_PACKAGE));
    }
    assertThatThrownBy(() -> KeptPlaces.NONE.withState(ServerState.BYTES_MIN - 1))
        .isInstanceOfSatisfying(
            WritException.class, e -> assertThat(e.code()).isEqualTo(ToolsError.UPSTREAM_PACKAGE));
  }
}
