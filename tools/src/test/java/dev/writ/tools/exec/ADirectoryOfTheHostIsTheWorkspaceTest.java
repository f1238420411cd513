package dev.writ.tools.exec;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.fixture.Await;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.seed.CommandLimits;
import dev.writ.sandbox.host.Trees;
import dev.writ.tools.Call;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Seed 002's WORKSPACE_ROOT, and the limits that its containers have. */
class ADirectoryOfTheHostIsTheWorkspaceTest {
  private static Path root;
  private static TestHosts hosts;

  @BeforeAll
  static void open() throws IOException {
    root = Files.createTempDirectory("root");
    hosts = TestHosts.open(s -> s.rooted(root), SecretStore.none(), Optional.empty());
    Files.createDirectories(root.resolve("repo"));
  }

  @AfterAll
  static void close() {
    hosts.close();
    Trees.remove(root);
  }

  private static Call call(TestHosts where, String params) {
    ToolManifest manifest = BuiltinTools.manifest("exec", "1.0.0").orElseThrow();
    JsonValue.Obj object =
        (JsonValue.Obj) Jcs.parse(params.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    ToolSchemas.of(manifest).requireInput("run", object);
    return new Call(new ExecDriver(where.host()).prepare(manifest, "run", file -> new byte[0]))
        .sandbox("restricted")
        .params(object);
  }

  private static Call sh(String line, String more) {
    return call(hosts, "{'shell':'" + line + "','commands':['sh']" + more + "}");
  }

  private static String stdout(DriverOutcome outcome) {
    assertThat(outcome.reason()).as(outcome.message()).isEqualTo("ok");
    JsonValue.Obj output = (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
    return ((JsonValue.Str) output.get("stdout")).value();
  }

  private static String observed(DriverOutcome outcome) {
    return new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8);
  }

  @Test
  void theCommandReadsAndWritesTheDirectory() throws IOException {
    Path repo = root.resolve("repo");
    Files.writeString(repo.resolve("code"), "one");
    DriverOutcome first =
        sh("pwd; ls; cat code; echo two > code; echo new > made", ",'mount':'repo'").run();
    assertThat(stdout(first)).isEqualTo("/workspace\ncode\none");
    assertThat(repo.resolve("code")).hasContent("two\n");
    assertThat(repo.resolve("made")).hasContent("new\n");
    assertThat(Files.getOwner(repo.resolve("made"))).isEqualTo(Files.getOwner(repo));
    assertThat(observed(first))
        .contains("\"mount\":{\"before\":\"sha256:")
        .contains("\"directory\":\"repo\",\"removed\":0,\"written\":2}");
    Files.writeString(repo.resolve("code"), "by somebody else");
    assertThat(stdout(sh("cat code", ",'mount':'repo'").run())).isEqualTo("by somebody else");
    assertThat(stdout(sh("pwd; cat repo/code", ",'mount':'.','cwd':'repo'").run()))
        .startsWith("/workspace/repo");
  }

  /** Whatever one of them asks for, it never sees the directory of another. */
  @Test
  void eachTenantHasADirectoryOfItsOwn() throws IOException {
    TreeMap<String, String> directories = new TreeMap<>();
    directories.put("acme", "of/acme");
    directories.put("globex", "globex");
    Function<String, DriverOutcome> acme =
        mount -> sh("ls; echo acme > mine", mount).workspaces(directories).run();
    Function<String, DriverOutcome> globex =
        mount -> sh("ls; cat *", mount).workspaces(directories).ofTenant("globex").run();
    assertThat(stdout(acme.apply(",'mount':'.'"))).isEmpty();
    assertThat(root.resolve("of/acme/mine")).hasContent("acme\n");
    assertThat(stdout(globex.apply(",'mount':'of/acme'"))).isEmpty();
    assertThat(root.resolve("globex/of/acme")).as("its own of that name").isEmptyDirectory();
    Files.createSymbolicLink(root.resolve("globex/theirs"), Path.of("../of/acme"));
    assertThat(globex.apply(",'mount':'theirs'").message()).startsWith("SBX-043");
    assertThat(stdout(acme.apply(",'mount':'.'"))).isEqualTo("mine\n");
    DriverOutcome none = sh("ls", ",'mount':'.'").workspaces(directories).ofTenant("initech").run();
    assertThat(none.reason() + " " + none.message())
        .startsWith("refused TOL-051")
        .contains("policy names no directory of tenant initech");
  }

  /** Calls of different runs that work on one directory, or on one and its parent. */
  @Test
  void oneCallAtATimeHasADirectory() throws Exception {
    Files.writeString(Files.createDirectories(root.resolve("shared/in")).resolve("n"), "0\n");
    List<Call> calls =
        List.of(
            sh("echo $(($(cat n) + 1)) > n", ",'mount':'shared/in'").inRun("a"),
            sh("echo $(($(cat in/n) + 1)) > in/n", ",'mount':'shared'").inRun("b"),
            sh("echo $(($(cat n) + 1)) > n", ",'mount':'shared/in'").inRun("c"));
    try (ExecutorService threads = Executors.newFixedThreadPool(3)) {
      for (Future<DriverOutcome> call :
          threads.invokeAll(calls.stream().<Callable<DriverOutcome>>map(c -> c::run).toList())) {
        stdout(call.get());
      }
    }
    assertThat(root.resolve("shared/in/n")).hasContent("3\n");
  }

  /** What a command did before its limit ended it is there, as on a mount. */
  @Test
  void aCommandThatIsEndedLeavesWhatItWrote() {
    DriverOutcome outcome = sh("echo begun > half; sleep 60", ",'mount':'ended'").wallMs(700).run();
    assertThat(outcome.reason()).isEqualTo("timed-out");
    assertThat(root.resolve("ended/half")).hasContent("begun\n");
  }

  /** A cancel interrupts the thread of the call, and an interrupt closes files that it reads. */
  @Test
  void aCommandThatIsCancelledLeavesWhatItWroteAndItsArtifacts() throws Exception {
    FutureTask<DriverOutcome> task =
        new FutureTask<>(
            sh("echo begun > half; sleep 60", ",'mount':'cancelled','artifacts':['half']")
                    .inRun("cancelled")
                ::run);
    Thread caller = Thread.ofPlatform().start(task);
    Await.until(() -> hasBegun("cancelled"));
    caller.interrupt();
    DriverOutcome outcome = task.get();
    assertThat(outcome.reason()).as(outcome.message()).isEqualTo("cancelled");
    assertThat(root.resolve("cancelled/half")).hasContent("begun\n");
    assertThat(outcome.artifacts())
        .extracting(DriverOutcome.Artifact::name)
        .containsExactly("half");
  }

  @Test
  void whoWaitsForADirectoryLongerThanItMayRunIsRefused() throws Exception {
    FutureTask<DriverOutcome> task =
        new FutureTask<>(
            sh("echo begun > half; sleep 60", ",'mount':'waited'").inRun("has-it")::run);
    Thread caller = Thread.ofPlatform().start(task);
    Await.until(() -> hasBegun("has-it"));
    DriverOutcome outcome = sh("true", ",'mount':'waited'").inRun("waits").wallMs(100).run();
    assertThat(outcome.reason()).isEqualTo("refused");
    assertThat(outcome.message()).startsWith("TOL-051");
    caller.interrupt();
    assertThat(task.get().reason()).isEqualTo("cancelled");
  }

  private static boolean hasBegun(String run) {
    return hosts
        .host()
        .workspaces()
        .find("acme", run)
        .map(workspace -> workspace.directory().resolve("half").toFile().length() > 0)
        .orElse(false);
  }

  @Test
  void aLinkThatLeadsOutIsRefusedOnEitherWay() throws IOException {
    Files.createSymbolicLink(root.resolve("out"), Path.of("/etc"));
    DriverOutcome in = sh("cat passwd", ",'mount':'out'").run();
    assertThat(in.reason()).isEqualTo("refused");
    assertThat(in.message()).startsWith("SBX-043");
    DriverOutcome back = sh("ln -s /etc etc; echo x > kept", ",'mount':'linked'").run();
    assertThat(back.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(back.reason()).isEqualTo("mount");
    assertThat(back.message()).startsWith("SBX-043");
    assertThat(root.resolve("linked")).isEmptyDirectory();
  }

  @Test
  void withoutARootOrWithWhatIsNotForItThereIsNoMount() {
    try (TestHosts without = TestHosts.open()) {
      assertThat(call(without, "{'argv':['true'],'mount':'repo'}").run().message())
          .startsWith("TOL-051");
    }
    assertThat(sh("true", ",'mount':'repo'").approved().run().message()).startsWith("TOL-051");
    assertThat(sh("true", ",'mount':'repo'").input("x", new byte[1]).run().message())
        .startsWith("TOL-051");
  }

  /** Processes and /tmp as policy says; without its section as every tool. */
  @Test
  void policyLimitsProcessesAndTmp() {
    String tmp = "df -k --output=size /tmp | tail -n 1 | tr -d \\\" \\\"";
    assertThat(stdout(sh(tmp, "").run())).isEqualTo("65536\n");
    assertThat(stdout(sh(tmp, "").limits(CommandLimits.DEFAULT).run())).isEqualTo("262144\n");
    String many = "for i in $(seq 200); do sleep 9 & done; kill $(jobs -p); echo all";
    assertThat(stdout(sh(many, "").limits(CommandLimits.DEFAULT).run())).isEqualTo("all\n");
    assertThat(sh(many, "").run().reason()).as("64 otherwise").isEqualTo("pids-limit");
    CommandLimits few = new CommandLimits(16, 1);
    assertThat(
            sh("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17; do sleep 9 & done", "")
                .limits(few)
                .run()
                .reason())
        .isEqualTo("pids-limit");
    assertThat(stdout(sh("head -c 2M /dev/zero > /tmp/x; stat -c %s /tmp/x", "").limits(few).run()))
        .isEqualTo("1048576\n");
  }
}
