package dev.writ.tools.git;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.egress.OriginTls;
import dev.writ.sandbox.host.Trees;
import dev.writ.sandbox.testing.TestTls;
import dev.writ.sandbox.workspace.Workspace;
import dev.writ.sandbox.workspace.WorkspaceSpec;
import dev.writ.sandbox.workspace.Workspaces;
import dev.writ.tools.Call;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The tool on each engine, before a real server. */
final class GitLab implements AutoCloseable {
  static final ToolManifest MANIFEST = manifest();

  private static final TestTls TLS = TestTls.forNames(GitServer.HOST);

  private final Path root = TestHosts.directory();
  private final GitServer server = GitServer.open(root, TLS, GitServer.HOST);
  private final TreeMap<String, TestHosts> hosts = new TreeMap<>();

  private static ToolManifest manifest() {
    try (InputStream in =
        GitDriver.class.getResourceAsStream(
            "/dev/writ/tools/registry/builtin/git_cli/manifest.json")) {
      return ToolManifest.read(Jcs.parse(in.readAllBytes()));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  GitServer server() {
    return server;
  }

  TestHosts hosts(String engine) {
    return hosts.computeIfAbsent(
        engine,
        name ->
            TestHosts.open(
                settings ->
                    settings
                        .with(GitLab::resolve)
                        .trusting(OriginTls.trusting(TLS.authority()))
                        .reaching(List.of(GitServer.HOST + ":" + server.port())),
                secrets(),
                Optional.of(name)));
  }

  private static List<InetAddress> resolve(String name) throws UnknownHostException {
    if (!name.equals(GitServer.HOST)) {
      throw new UnknownHostException(name);
    }
    return List.of(InetAddress.getByName("127.0.0.1"));
  }

  private SecretStore secrets() {
    TreeMap<String, String> known = new TreeMap<>();
    known.put("robot", server.secret());
    known.put("wrong", server.secret().replace("tok3n", "other"));
    known.put("elsewhere", "https://robot:tok3n-of-the-robot@other.test");
    known.put("plain", "tok3n-of-the-robot");
    return (manifest, invocation) ->
        invocation.params().get("credential") instanceof JsonValue.Str name
                && known.containsKey(name.value())
            ? List.of(
                new SecretFile(
                    name.value(), known.get(name.value()).getBytes(StandardCharsets.UTF_8)))
            : List.of();
  }

  /** A call with params as name, value, name, value. */
  Call call(String engine, String operation, Object... params) {
    var json = JsonValue.object();
    for (int i = 0; i < params.length; i += 2) {
      String name = (String) params[i];
      switch (params[i + 1]) {
        case String text -> json.put(name, text);
        case Integer number -> json.put(name, (long) number);
        case Boolean flag -> json.put(name, flag);
        case JsonValue value -> json.put(name, value);
        default -> throw new IllegalArgumentException(name);
      }
    }
    return new Call(
            new GitDriver(hosts(engine).host()).prepare(MANIFEST, operation, file -> new byte[0]))
        .sandbox("restricted")
        .outputBytes(1 << 22)
        .params(json.build());
  }

  /** Runs one that must succeed; its output must be what the manifest says. */
  JsonValue.Obj run(String engine, String operation, Object... params) {
    Call call = call(engine, operation, params);
    ToolSchemas.of(MANIFEST).requireInput(operation, call.invocation().params());
    DriverOutcome outcome = call.run();
    if (outcome.end() != DriverOutcome.End.SUCCEEDED) {
      throw new AssertionError(Call.show(outcome));
    }
    return output(operation, outcome);
  }

  /** The output, which must be what the manifest says. */
  static JsonValue.Obj output(String operation, DriverOutcome outcome) {
    JsonValue.Obj output = (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
    ToolSchemas.of(MANIFEST).requireOutput(operation, output);
    return output;
  }

  static String text(JsonValue.Obj output, String member) {
    return ((JsonValue.Str) output.get(member)).value();
  }

  /** The files of the run. */
  Workspace workspace(String engine) {
    Workspaces all = hosts(engine).host().workspaces();
    return all.open(
        new WorkspaceSpec(
            "acme", "run-1", all.bestStorage(), 256 << 20, Call.TIME, Call.TIME.plusSeconds(9)));
  }

  /** Gives what the host's programs wrote to the user who owns the rest. */
  void giveAway(String engine) {
    Workspace workspace = workspace(engine);
    long owner = workspace.owner();
    workspace.giveTo(owner + 1);
    workspace.giveTo(owner);
  }

  Path file(String engine, String path) {
    return workspace(engine).directory().resolve(path);
  }

  void write(String engine, String path, String text) {
    workspace(engine).write(path, text.getBytes(StandardCharsets.UTF_8), false);
  }

  /** Empties the workspaces of the run. */
  void clear() {
    for (String engine : hosts.keySet()) {
      try (Stream<Path> all = Files.list(workspace(engine).directory())) {
        for (Path one : all.filter(p -> !p.endsWith("lost+found")).toList()) {
          if (Files.isDirectory(one, LinkOption.NOFOLLOW_LINKS)) {
            Trees.remove(one);
          } else {
            Files.delete(one);
          }
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** Commits files to a repository on the server: path, text, path, text. */
  void commitOnServer(String name, String... files) {
    Path work = root.resolve("work-" + name.replace('/', '-'));
    if (!Files.exists(work)) {
      GitServer.git(root, "clone", "--quiet", server.directory(name).toString(), work.toString());
    }
    for (int i = 0; i < files.length; i += 2) {
      GitServer.put(work, files[i], files[i + 1]);
    }
    GitServer.git(work, "add", "--all");
    GitServer.git(work, "commit", "--quiet", "--message=by Mallory");
    GitServer.git(work, "push", "--quiet", "origin", "HEAD:refs/heads/main");
  }

  @Override
  public void close() {
    hosts.values().forEach(TestHosts::close);
    server.close();
    Trees.remove(root);
  }
}
