package dev.writ.tools.process;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.SandboxRules;
import dev.writ.sandbox.Guarantee;
import dev.writ.sandbox.SecretFile;
import dev.writ.sandbox.Tally;
import dev.writ.sandbox.egress.EgressRule;
import dev.writ.sandbox.error.SandboxError;
import dev.writ.tools.Call;
import dev.writ.tools.Drivers;
import dev.writ.tools.registry.BuiltinTools;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What every process tool gets from its base. */
class ProcessToolsTest {
  private static final String SECRET = "hunter2-hunter2";
  private static TestHosts hosts;

  @BeforeAll
  static void open() {
    hosts =
        TestHosts.open(
            (manifest, invocation) ->
                List.of(new SecretFile("token", SECRET.getBytes(StandardCharsets.UTF_8))),
            Optional.empty());
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  private static Call call(String line, boolean workspace) {
    return new Call(
            new ShellDriver(hosts.host())
                .prepare(ShellDriver.manifest(workspace), "run", file -> new byte[0]))
        .sandbox("default")
        .params(JsonValue.object().put("line", line).build());
  }

  private static JsonValue.Obj output(DriverOutcome outcome) {
    return (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
  }

  private static String text(DriverOutcome outcome, String member) {
    return ((JsonValue.Str) output(outcome).get(member)).value();
  }

  @Test
  void aProgramThatFailsIsAnEffectThatSucceeded() {
    DriverOutcome outcome = call("printf out; printf err >&2; exit 3", false).run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(outcome.reason()).isEqualTo("ok");
    assertThat(new String(outcome.output().orElseThrow().bytes(), StandardCharsets.UTF_8))
        .isEqualTo(
            "{\"exit_code\":3,\"stderr\":\"err\",\"stderr_truncated\":false,"
                + "\"stdout\":\"out\",\"stdout_truncated\":false}");
    assertThat(outcome.metrics().wallMs()).isPositive();
    assertThat(outcome.metrics().memoryBytes()).isPositive();
    var commands = (JsonValue.Arr) outcome.observations().get("commands");
    assertThat(commands.items()).hasSize(1);
    assertThat(((JsonValue.Obj) commands.items().getFirst()).get("engine")).isNotNull();
  }

  @Test
  void whatEndsIsCountedByItsReasonAndLooksMakeNoSandbox() {
    Tally before = hosts.host().tally();
    call("exit 3", false).run();
    call("yes", false).outputBytes(4096).run();
    assertThat(hosts.host().lookAtEngine(List.of()).shortfalls()).isEmpty();
    Tally after = hosts.host().tally();
    assertThat(after.started() - before.started()).isEqualTo(2);
    assertThat(after.running()).isZero();
    assertThat(after.ended().keySet()).contains("exited", "output-limit", Tally.ENGINE_FAILED);
    for (String reason : after.ended().keySet()) {
      assertThat(after.ended().get(reason) - before.ended().get(reason))
          .as(reason)
          .isEqualTo(reason.equals("exited") || reason.equals("output-limit") ? 1 : 0);
    }
    assertThat(ProcessHost.missing(new WritException(SandboxError.NO_ENGINE, "")).tally())
        .isEqualTo(Tally.NONE);
  }

  @Test
  void aSignalIsAnExitAsShellsSayIt() {
    DriverOutcome outcome = call("kill -9 $$", false).run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(output(outcome).get("exit_code")).isEqualTo(JsonValue.of(137));
  }

  @ParameterizedTest
  @CsvSource({
    "'printf part; sleep 60', 400, 268435456, 1048576, TIMED_OUT, timed-out",
    "'printf part; while :; do :; done', 20000, 268435456, 1048576, KILLED, cpu-limit",
    "'printf part; python3 -c \"x=bytearray(3<<27)\"', 20000, 67108864, 1048576, KILLED,"
        + " out-of-memory",
    "'printf part; yes', 20000, 268435456, 4096, KILLED, output-limit"
  })
  void aLimitIsAnEffectThatFailedAndKeepsWhatThereIs(
      String line, long wall, long memory, long outputBytes, DriverOutcome.End end, String reason) {
    DriverOutcome outcome =
        call(line, false)
            .cpuMs(reason.equals("cpu-limit") ? 300 : 20_000)
            .wallMs(wall)
            .memoryBytes(memory)
            .outputBytes(outputBytes)
            .run();
    assertThat(outcome.reason()).isEqualTo(reason);
    assertThat(outcome.end()).isEqualTo(end);
    assertThat(text(outcome, "stdout")).startsWith("part");
    assertThat(outcome.output().orElseThrow().bytes().length).isLessThanOrEqualTo(1 << 20);
  }

  @Test
  void whatAPolicyMayNameIsWhatASandboxCanDoWithout() {
    assertThat(SandboxRules.WAIVABLE)
        .containsExactlyElementsOf(
            Stream.of(Guarantee.values())
                .filter(Guarantee::waivable)
                .map(Guarantee::text)
                .sorted()
                .toList());
  }

  /** On a host that holds all of it: what is waived is what may be lacking, not what is off. */
  @Test
  void whatPolicyDoesWithoutIsEnforcedWhereItHolds() {
    DriverOutcome outcome =
        call("printf part; python3 -c \"x=bytearray(3<<27)\"", false)
            .memoryBytes(64 << 20)
            .waiving(SandboxRules.WAIVABLE)
            .run();
    assertThat(outcome.reason()).isEqualTo("out-of-memory");
    assertThat(outcome.observations().get("shortfalls")).isNull();
  }

  @Test
  void whatCannotBeRunIsARefusalOfThisCallAndNamesItsCode() {
    DriverOutcome outcome = call("true", false).memoryBytes(1).run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(outcome.reason()).isEqualTo("refused");
    assertThat(outcome.message()).contains("SBX-026", "memory_bytes is 1");
    DriverOutcome named = call("true", false).input("../x", "y").run();
    assertThat(named.message()).contains("SBX-043");
  }

  @Test
  void outputFitsTheCeilingAlsoWhereEscapesMakeMoreOfIt() {
    DriverOutcome outcome = call("head -c 3000 /dev/zero", false).outputBytes(4_000).run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(outcome.output().orElseThrow().bytes().length).isLessThanOrEqualTo(4_000);
    assertThat(output(outcome).get("stdout_truncated")).isEqualTo(JsonValue.TRUE);
    assertThat(text(outcome, "stdout")).isNotEmpty().matches("\\x00+");
  }

  @Test
  void inputsAreFilesAndSecretsAreFilesThatAreMasked() {
    DriverOutcome outcome =
        call("cat in/a/b; cat /run/secrets/token; env; cat /run/secrets/token >&2", false)
            .input("a/b", "given;")
            .run();
    assertThat(text(outcome, "stdout")).startsWith("given;[secret]").contains("HOME=/workspace");
    assertThat(text(outcome, "stderr")).isEqualTo("[secret]");
    assertThat(new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8))
        .doesNotContain(SECRET);
  }

  @Test
  void filesOfARunStayForItAndNoOtherCallSeesThem() {
    SandboxWorkspaces all = hosts.host().runWorkspaces();
    assertThat(all.treeDigest("acme", "run-1")).isEqualTo(Digest.sha256());
    call("echo one > file", true).run();
    Digest one = all.treeDigest("acme", "run-1");
    assertThat(one).isNotEqualTo(Digest.sha256());
    assertThat(text(call("cat file", true).run(), "stdout")).isEqualTo("one\n");
    assertThat(text(call("ls", false).run(), "stdout")).isEmpty();
    assertThat(all.treeDigest("acme", "run-1")).isEqualTo(one);
    assertThat(all.treeDigest("acme", "other")).isEqualTo(Digest.sha256());
    all.wipe("acme", "run-1", "run-closed", Instant.EPOCH);
    all.wipe("acme", "run-1", "run-closed", Instant.EPOCH);
    assertThat(all.treeDigest("acme", "run-1")).isEqualTo(Digest.sha256());
    assertThat(hosts.host().workspaces().wiped()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "runc"})
  void theEngineIsToldAndLeavesNothing(String engine) {
    try (TestHosts other = TestHosts.open(SecretStore.none(), Optional.of(engine))) {
      DriverOutcome outcome =
          new Call(
                  new ShellDriver(other.host())
                      .prepare(ShellDriver.manifest(false), "run", file -> new byte[0]))
              .sandbox("default")
              .params(JsonValue.object().put("line", "echo hello").build())
              .run();
      assertThat(text(outcome, "stdout")).isEqualTo("hello\n");
      assertThat(new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8))
          .contains("\"engine\":\"" + engine);
      assertThat(other.settings().stateDirectory().resolve("live").toFile().list()).isEmpty();
    }
  }

  @Test
  void whereNothingConfinesPreparingIsRefusedAndTheProfileIsStillKnown() {
    WritException why = new WritException(SandboxError.NO_ENGINE, "none");
    try (ProcessHost none = ProcessHost.missing(why)) {
      ShellDriver driver = new ShellDriver(none);
      ToolManifest manifest = ShellDriver.manifest(true);
      assertThatThrownBy(() -> driver.prepare(manifest, "run", file -> new byte[0]))
          .hasMessageContaining("SBX-001")
          .hasMessageContaining("apt-get install bubblewrap");
      assertThat(driver.sandboxProfile("default"))
          .isEqualTo(new ShellDriver(hosts.host()).sandboxProfile("default"));
      assertThat(driver.sandboxProfile("restricted"))
          .isNotEqualTo(driver.sandboxProfile("default"));
      assertThat(none.runWorkspaces().treeDigest("acme", "run-1")).isEqualTo(Digest.sha256());
      none.runWorkspaces().wipe("acme", "run-1", "run-closed", Instant.EPOCH);
    }
  }

  @Test
  void whoOnlyReplaysRunsNoProcess() {
    try (Drivers drivers = Drivers.withoutProcesses()) {
      ToolManifest manifest = BuiltinTools.manifest("code_interpreter", "1.0.0").orElseThrow();
      assertThatThrownBy(
              () -> drivers.byName().get("code").prepare(manifest, "run", file -> new byte[0]))
          .hasMessageContaining("TOL-031");
    }
  }

  @Test
  void anInputThatIsTooLargeForAFileIsRefused() {
    byte[] large = new byte[(int) ProcessCall.INPUT_BYTES_MAX + 1];
    assertThat(call("true", false).input("large", large).run().message()).contains("TOL-030");
  }

  @Test
  void placesToReachAreThoseThatTheParamsName() {
    assertThat(ProcessCall.rule("https://Example.org/x"))
        .isEqualTo(EgressRule.of("example.org", 443));
    assertThat(ProcessCall.rule("127.0.0.1:8080"))
        .isEqualTo(new EgressRule("127.0.0.1", 8080, true));
    assertThat(ProcessCall.rule("http://[::1]:80/")).isEqualTo(new EgressRule("::1", 80, true));
    for (String no : new String[] {"example.org", "ftp://example.org", "u@example.org:1", "*:1"}) {
      assertThatThrownBy(() -> ProcessCall.rule(no)).as(no).hasMessageContaining("SBX-029");
    }
  }

  @Test
  void anotherManifestOrOperationIsRefused() {
    ShellDriver driver = new ShellDriver(hosts.host());
    assertThatThrownBy(
            () -> driver.prepare(ShellDriver.manifest(false), "walk", file -> new byte[0]))
        .hasMessageContaining("TOL-002");
    assertThatThrownBy(() -> driver.sandboxProfile("wasm")).hasMessageContaining("SBX-020");
  }

  @Test
  void nothingIsOpenedUntilAProcessIsAskedFor() {
    try (TestHosts lazy = TestHosts.open()) {
      lazy.host().runWorkspaces().treeDigest("acme", "run-1");
      assertThat(Files.exists(lazy.settings().stateDirectory())).isFalse();
      lazy.host().engine();
      assertThat(Files.exists(lazy.settings().stateDirectory())).isTrue();
      lazy.host().close();
      assertThatThrownBy(() -> lazy.host().engine()).hasMessageContaining("TOL-005");
    }
  }
}
