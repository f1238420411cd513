package dev.writ.tools.exec;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.ToolSchemas;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.process.SecretDirectory;
import dev.writ.tools.process.TestHosts;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a role may run is all that exists; everything else is not there, whoever looks for it. */
class OnlyTheNamedCommandsExistTest {
  private static final String TOKEN = "s3cret-token-value";

  @TempDir private static Path home;
  private static TestHosts hosts;

  @BeforeAll
  static void open() {
    hosts = hosts(Optional.empty());
  }

  private static TestHosts hosts(Optional<String> engine) {
    return TestHosts.open(new SecretDirectory(home.resolve("secrets")), engine);
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  private static ToolManifest manifest() {
    return BuiltinTools.manifest("exec", "1.0.0").orElseThrow();
  }

  private static Call call(String params) {
    return call(hosts, params);
  }

  private static Call call(TestHosts where, String params) {
    JsonValue.Obj object =
        (JsonValue.Obj) Jcs.parse(params.replace('\'', '"').getBytes(StandardCharsets.UTF_8));
    ToolSchemas.of(manifest()).requireInput("run", object);
    return new Call(new ExecDriver(where.host()).prepare(manifest(), "run", file -> new byte[0]))
        .sandbox("restricted")
        .params(object);
  }

  private static JsonValue.Obj output(DriverOutcome outcome) {
    assertThat(outcome.reason()).as(outcome.message()).isEqualTo("ok");
    JsonValue.Obj output = (JsonValue.Obj) Jcs.parse(outcome.output().orElseThrow().bytes());
    ToolSchemas.of(manifest()).requireOutput("run", output);
    return output;
  }

  private static String text(DriverOutcome outcome, String member) {
    return ((JsonValue.Str) output(outcome).get(member)).value();
  }

  private static long number(DriverOutcome outcome, String member) {
    return (long) ((JsonValue.Num) output(outcome).get(member)).value();
  }

  @ParameterizedTest
  @ValueSource(strings = {"bubblewrap", "runc"})
  void aShellFindsNoProgramThatIsNotNamed(String engine) {
    try (TestHosts where = hosts(Optional.of(engine))) {
      DriverOutcome there =
          call(where, "{'argv':['sh','-c','git --version'],'commands':['git','sh']}").run();
      assertThat(text(there, "stdout")).startsWith("git version");
      DriverOutcome absent =
          call(
                  where,
                  "{'shell':'git --version; find /usr /opt /etc /bin/ /sbin/ -type f -perm /111"
                      + " -not -name \\\"*.so*\\\"','commands':['sh']}")
              .run();
      assertThat(text(absent, "stderr")).contains("git");
      assertThat(text(absent, "stdout").lines().toList())
          .contains("/usr/bin/sh", "/usr/bin/cat")
          .noneMatch(line -> line.contains("git"))
          .allMatch(line ->
              line.endsWith("/bin/sh")
                  || Toolbox.BASE.contains(line.substring(line.lastIndexOf('/') + 1)));
    }
  }

  @Test
  void aProgramIsGivenByItsNameAndRunsWithItsWords() {
    DriverOutcome outcome =
        call("{'argv':['python3','-c','import sys,os;print(sys.argv[1:],sys.stdin.read(),"
                + "os.environ[\\\"MODE\\\"],os.getcwd());sys.exit(3)','a b','*'],"
                + "'commands':['python3'],'stdin':'given','env':{'MODE':'x'},'cwd':'repo/a'}")
            .run();
    assertThat(text(outcome, "stdout")).isEqualTo("['a b', '*'] given x /workspace/repo/a\n");
    assertThat(number(outcome, "exit_code")).isEqualTo(3);
    assertThat(number(outcome, "duration_ms")).isPositive();
    DriverOutcome alias = call("{'argv':['python','-c','print(6*7)'],'commands':['python']}").run();
    assertThat(text(alias, "stdout")).isEqualTo("42\n");
  }

  @Test
  void aLineRunsWhereAShellIsNamed() {
    DriverOutcome line =
        call("{'shell':'echo $((6*7)) | cat; exit 4','commands':['bash','sh']}").run();
    assertThat(text(line, "stdout")).isEqualTo("42\n");
    assertThat(number(line, "exit_code")).isEqualTo(4);
    DriverOutcome none = call("{'shell':'echo x','commands':['python3']}").run();
    assertThat(none.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(none.reason()).isEqualTo("no-shell");
  }

  @ParameterizedTest
  @CsvSource({
    "git, not among the commands",
    "no-such-program, not on this host",
    "/usr/bin/git, not among the commands"
  })
  void whatIsNotThereIsAFailedEffect(String program, String why) {
    DriverOutcome outcome =
        call("{'argv':['" + program + "'],'commands':['no-such-program','sh']}").run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(outcome.reason()).isEqualTo("command-not-found");
    assertThat(outcome.message()).contains(why);
    assertThat(new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8))
        .contains("\"missing\":{\"no-such-program\":\"not on this host\"}")
        .contains("\"path\":\"/usr/bin/sh\"", "\"package\":\"dash ", "\"digest\":\"sha256:");
  }

  @Test
  void aScriptNeedsItsInterpreterToBeNamedToo() throws IOException {
    Toolbox alone = Toolbox.of(List.of("npm"), Toolbox.PLACES);
    if (Toolbox.of(List.of("node"), Toolbox.PLACES).found().containsKey("node")
        && Files.exists(Path.of("/usr/bin/npm"))) {
      assertThat(alone.missing().get("npm")).isEqualTo("its interpreter is not named: node");
      assertThat(Toolbox.of(List.of("node", "npm"), Toolbox.PLACES).found()).containsKey("npm");
    }
    assertThat(alone.executables()).noneMatch(path -> path.endsWith("/npm"));
    assertThatThrownBy(() -> Toolbox.of(List.of("../sh"), Toolbox.PLACES))
        .hasMessageContaining("TOL-050");
  }

  @Test
  void artifactsAndReportsComeFromTheDirectoryOfTheCommand() {
    DriverOutcome outcome =
        call("{'shell':'mkdir test-results; echo hi > test-results/log; echo x > other; printf"
                + " \\\"<testsuite tests=\\\\\\\"3\\\\\\\" failures=\\\\\\\"1\\\\\\\"/>\\\" >"
                + " junit.xml; printf \\\"<coverage line-rate=\\\\\\\"0.5\\\\\\\"/>\\\" >"
                + " coverage.xml','commands':['sh'],'cwd':'repo',"
                + "'artifacts':['junit.xml','coverage.xml','test-results/']}")
            .run();
    assertThat(outcome.artifacts())
        .extracting(DriverOutcome.Artifact::name)
        .containsExactly("coverage.xml", "junit.xml", "test-results.tar");
    String json = new String(outcome.output().orElseThrow().bytes(), StandardCharsets.UTF_8);
    assertThat(json)
        .contains("\"tests\":{\"errors\":0,\"failures\":1,\"skipped\":0,\"tests\":3,\"time_ms\":0}")
        .contains("\"coverage\":{\"line_rate\":0.5}")
        .contains("\"name\":\"test-results.tar\"");
    DriverOutcome tooLarge =
        call("{'shell':'head -c 20M /dev/zero > big','commands':['sh'],'artifacts':['b*']}").run();
    assertThat(tooLarge.end()).isEqualTo(DriverOutcome.End.FAILED);
    assertThat(tooLarge.reason()).isEqualTo("artifact-limit");
    assertThat(tooLarge.artifacts()).isEmpty();
    assertThat(tooLarge.output()).isPresent();
    DriverOutcome pattern = call("{'argv':['true'],'artifacts':['../x']}").run();
    assertThat(pattern.message()).contains("TOL-045");
  }

  @Test
  void aSecretIsAFileForOneCallAndMaskedInAllThatLeavesIt() {
    new SecretDirectory(home.resolve("secrets"))
        .put("token", TOKEN.getBytes(StandardCharsets.UTF_8));
    DriverOutcome outcome =
        call("{'shell':'cat /run/secrets/token; base64 /run/secrets/token; env >&2;"
                + " cat /proc/self/environ >&2; cat /run/secrets/token > out;"
                + " wc -c < /run/secrets/token > size','commands':['sh'],"
                + "'secrets':['token'],'artifacts':['out','size']}")
            .run();
    assertThat(text(outcome, "stdout")).startsWith("[secret][secret]");
    assertThat(outcome.artifacts().getFirst().bytes()).asString().isEqualTo("[secret]");
    assertThat(outcome.artifacts().getLast().bytes()).asString().isEqualTo("18\n");
    String told =
        new String(outcome.output().orElseThrow().bytes(), StandardCharsets.UTF_8)
            + new String(Jcs.write(outcome.observations()), StandardCharsets.UTF_8);
    assertThat(told).doesNotContain(TOKEN).doesNotContain("czNjcmV0LXRva2Vu");
    DriverOutcome next = call("{'shell':'ls /run/secrets; cat out','commands':['sh']}").run();
    assertThat(text(next, "stderr")).contains("/run/secrets");
    DriverOutcome unknown = call("{'argv':['true'],'secrets':['other']}").run();
    assertThat(unknown.reason()).isEqualTo("refused");
    assertThat(unknown.message()).contains("TOL-041");
  }

  @Test
  void limitsAreReasonsAndKeepWhatThereIs() {
    DriverOutcome outcome =
        call("{'shell':'echo begun; sleep 60','commands':['sh']}").wallMs(700).run();
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.TIMED_OUT);
    assertThat(outcome.reason()).isEqualTo("timed-out");
    assertThat(new String(outcome.output().orElseThrow().bytes(), StandardCharsets.UTF_8))
        .contains("begun");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{'argv':['true'],'shell':'true'}",
        "{'commands':['sh']}",
        "{'argv':[]}",
        "{'argv':['true'],'commands':['/bin/sh']}",
        "{'argv':['true'],'secrets':['../x']}",
        "{'argv':['true'],'env':{'A':1}}",
        "{'argv':['true'],'other':1}"
      })
  void paramsThatSayTwoThingsOrNothingAreRefused(String params) {
    assertThatThrownBy(() -> call(params)).hasMessageContaining("GRD-403");
  }

  @Test
  void theSpecsExamplesHold() throws IOException {
    String page = Files.readString(Path.of("../spec/tool-exec.md"));
    assertThat(page).contains("`" + String.join(" ", Toolbox.BASE) + "`");
    String[] parts = page.split("```json canonical\n");
    ToolSchemas schemas = ToolSchemas.of(manifest());
    schemas.requireInput("run", json(parts[1]));
    schemas.requireOutput("run", json(parts[2]));
    var both = new TreeMap<>(((JsonValue.Obj) json(parts[2])).members());
    both.putAll(((JsonValue.Obj) json(parts[3])).members());
    schemas.requireOutput("run", new JsonValue.Obj(both));
  }

  private static JsonValue json(String part) {
    return Jcs.parse(part.substring(0, part.indexOf("```")).getBytes(StandardCharsets.UTF_8));
  }

  @Test
  void theBaseHasNoShellAndNoInterpreter() {
    assertThat(Toolbox.BASE)
        .isSorted()
        .doesNotContain("sh", "bash", "awk", "perl", "python3", "vi", "ed", "nc", "curl", "ssh")
        .allMatch(name -> name.equals(name.toLowerCase(Locale.ROOT)));
  }
}
