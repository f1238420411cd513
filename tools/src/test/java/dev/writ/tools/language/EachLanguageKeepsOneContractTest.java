package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.RuntimeRange;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.author.ToolSource;
import dev.writ.tools.language.Dialect.Behaviour;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/**
 * The conformance suite of adapters: the same calls, the same ends, in each language. It knows no
 * language; what it asks of one is in {@link Dialect}.
 */
class EachLanguageKeepsOneContractTest {
  private static final String DIALECTS = "dev.writ.tools.language.Dialect#ALL";

  /** What comes back as it went, byte for byte. */
  private static final String VALUES =
      "{\"value\":{\"deep\":"
          + "[".repeat(90)
          + "]".repeat(90)
          + ",\"numbers\":[0,-1,1.5,0.1,0.30000000000000004,9007199254740991,-9007199254740991,"
          + "12345678901234567000,123456789012345680000,1e+300,5e-324,1e-7],\"text\":[\"\",\"é\","
          + "\"\\u0000\\u001f\\b\\t\\n\\f\\r\\\"\\\\/\",\"\u007f\u2028\",\"😀𝄞\",\"1\",\"1e5\","
          + "\"true\"],\"words\":[true,false,null,[],{}],\"\":0,\"ключ\":{\"a\":{\"b\":[{}]}}}}";

  private static TestHosts hosts;
  @TempDir Path home;

  @BeforeAll
  static void open() {
    hosts = TestHosts.open(SecretStore.none(), Optional.empty());
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  private static Driver driver(String language) {
    return LanguageDrivers.all(hosts.host()).stream()
        .filter(driver -> driver.name().equals(language))
        .findFirst()
        .orElseThrow();
  }

  private static Call call(Path folder) {
    ToolProject project = ToolProject.open(folder);
    ToolManifest manifest = project.manifest();
    Driver driver = driver(project.source().language().text());
    return new Call(driver.prepare(manifest, "count", file -> project.files().get(file.path())))
        .sandbox(manifest.sandboxes().getFirst())
        .memoryBytes(512L << 20)
        .outputBytes(2 << 20)
        .params(JsonValue.object().put("text", "one two\nthree\n").build());
  }

  private Call call(Dialect dialect, Behaviour behaviour) {
    return call(dialect.project(home.resolve("my-tool"), behaviour));
  }

  private static DriverOutcome ends(DriverOutcome outcome, DriverOutcome.End end, String reason) {
    assertThat(outcome.end() + " " + outcome.reason())
        .as(Call.show(outcome))
        .isEqualTo(end + " " + reason);
    return outcome;
  }

  @Test
  void eachLanguageThatRunsAsAProcessIsInTheSuite() {
    List<String> drivers =
        LanguageDrivers.all(hosts.host()).stream().map(Driver::name).sorted().toList();
    // An assembly cannot be built here: TheDotNetTemplateRunsWhereARuntimeIsTest has its sample.
    assertThat(
            Stream.concat(
                Dialect.ALL.stream().map(dialect -> dialect.language().text()),
                Stream.of(Language.DOTNET.text())))
        .containsExactlyInAnyOrderElementsOf(drivers);
    assertThat(Stream.concat(drivers.stream(), Stream.of("http", "wasm")))
        .containsExactlyInAnyOrderElementsOf(Language.ALL.stream().map(Language::text).toList());
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void aNewProjectGivesWhatItsTestSaysAndWhichRuntimeRanIt(Dialect dialect) {
    Path folder = dialect.template(home.resolve("my-tool"));
    DriverOutcome outcome = ends(call(folder).run(), DriverOutcome.End.SUCCEEDED, "ok");
    assertThat(Call.text(outcome)).isEqualTo("{\"characters\":14,\"lines\":2,\"words\":3}");
    ToolManifest manifest = ToolProject.open(folder).manifest();
    Optional<Driver.LanguageRuntime> runtime = driver(manifest.driver()).runtime(manifest);
    JsonValue.Obj observed = outcome.observations();
    if (dialect.language().equals(Language.PROCESS)) {
      assertThat(runtime).isEmpty();
      assertThat(observed.get("runtime")).isNull();
      return;
    }
    Driver.LanguageRuntime found = runtime.orElseThrow();
    assertThat(found.language()).isEqualTo(dialect.language().text());
    assertThat(found.version()).matches("[0-9]+(\\.[0-9]+){1,3}.*");
    assertThat(((JsonValue.Obj) observed.get("runtime")).get("version"))
        .isEqualTo(JsonValue.of(found.version()));
    assertThat(observed.get("programs").toString()).contains("digest", "sha256:");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void valuesComeBackAsTheyWent(Dialect dialect) {
    JsonValue.Obj values = (JsonValue.Obj) Jcs.parse(VALUES.getBytes(StandardCharsets.UTF_8));
    DriverOutcome outcome = call(dialect, Behaviour.ECHO).params(values).run();
    ends(outcome, DriverOutcome.End.SUCCEEDED, "ok");
    assertThat(Call.text(outcome))
        .isEqualTo(new String(Jcs.write(values.get("value")), StandardCharsets.UTF_8));
  }

  private Path giving(Dialect dialect, Behaviour behaviour, String mediaType) throws IOException {
    Path folder = dialect.project(home.resolve("my-tool"), behaviour);
    Path manifest = folder.resolve(ToolSource.FILE);
    Files.writeString(
        manifest,
        Files.readString(manifest)
            .replaceAll(
                "(?s)operations:.*capabilities:",
                "operations:\n  count: { input: { type: object }, media_type: "
                    + mediaType
                    + " }\ncapabilities:"));
    return folder;
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void bytesHaveTheMediaTypeOfTheirOperation(Dialect dialect) throws IOException {
    DriverOutcome outcome = call(giving(dialect, Behaviour.BYTES, "application/x-test")).run();
    ends(outcome, DriverOutcome.End.SUCCEEDED, "ok");
    byte[] all = new byte[256];
    for (int i = 0; i < all.length; i++) {
      all[i] = (byte) i;
    }
    assertThat(outcome.output().orElseThrow().bytes()).isEqualTo(all);
    assertThat(outcome.output().get().mediaType()).isEqualTo("application/x-test");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void textIsUtf8OfTheMediaTypeOfItsOperation(Dialect dialect) throws IOException {
    DriverOutcome outcome = call(giving(dialect, Behaviour.TEXT, "text/csv")).run();
    ends(outcome, DriverOutcome.End.SUCCEEDED, "ok");
    assertThat(Call.text(outcome)).isEqualTo("é😀");
    assertThat(outcome.output().orElseThrow().mediaType()).isEqualTo("text/csv");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void whatAToolPrintsIsNoPartOfTheProtocolWhoseFrameMayBeAMegabyte(Dialect dialect) {
    DriverOutcome outcome = call(dialect, Behaviour.PRINTS_AND_GIVES_A_MEGABYTE).run();
    ends(outcome, DriverOutcome.End.SUCCEEDED, "ok");
    assertThat(outcome.output().orElseThrow().bytes()).hasSize((1 << 20) + 2);
    assertThat(outcome.observations().get("stderr").toString()).contains("xxx", "y");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void anErrorOfTheToolIsAFailureWithItsWords(Dialect dialect) {
    DriverOutcome outcome = call(dialect, Behaviour.THROWS).run();
    ends(outcome, DriverOutcome.End.FAILED, "tool-error");
    assertThat(outcome.message()).contains("no such order");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void whatJsonCannotSayIsTheToolsError(Dialect dialect) {
    ends(call(dialect, Behaviour.NOT_A_NUMBER).run(), DriverOutcome.End.FAILED, "tool-error");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void halfACharacterNeverBecomesAnother(Dialect dialect) {
    DriverOutcome outcome = call(dialect, Behaviour.HALF_A_CHARACTER).run();
    assertThat(outcome.reason()).isIn("tool-error", "protocol-violation");
    assertThat(outcome.end()).isEqualTo(DriverOutcome.End.FAILED);
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void anOutputThatNoDocumentCouldHoldIsRefused(Dialect dialect) {
    ends(call(dialect, Behaviour.TOO_DEEP).run(), DriverOutcome.End.FAILED, "protocol-violation");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void aWorkerThatExitsSaysNothing(Dialect dialect) {
    ends(call(dialect, Behaviour.EXITS).run(), DriverOutcome.End.FAILED, "worker-died");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void aWorkerThatHangsIsEnded(Dialect dialect) {
    DriverOutcome outcome = call(dialect, Behaviour.HANGS).wallMs(400).run();
    ends(outcome, DriverOutcome.End.TIMED_OUT, "timed-out");
  }

  @ParameterizedTest
  @FieldSource(DIALECTS)
  void codeThatDoesNotLoadIsToldFromCodeThatFails(Dialect dialect) {
    Path folder = Dialect.entry(dialect.template(home.resolve("my-tool")), "this is no program(\n");
    boolean loads = !dialect.language().equals(Language.PROCESS);
    ends(
        call(folder).run(),
        DriverOutcome.End.FAILED,
        loads ? "dependency-load-failure" : "worker-died"); // there is nobody to tell it
  }

  /** Before anything is dispatched: preparing is stage 3. */
  @ParameterizedTest
  @FieldSource(DIALECTS)
  void whatThisHostsRuntimeIsNotIsRefusedBeforeItRuns(Dialect dialect) throws IOException {
    Path folder = dialect.template(home.resolve("my-tool"));
    Path manifest = folder.resolve(ToolSource.FILE);
    String text = Files.readString(manifest);
    List<String> runtimes = dialect.language().runtimes();
    Optional<Driver.LanguageRuntime> here =
        driver(dialect.language().text()).runtime(ToolProject.open(folder).manifest());
    for (String runtime : Stream.concat(runtimes.stream(), Stream.of("99+")).toList()) {
      Files.writeString(manifest, text.replaceAll("runtime: .*", "runtime: \"" + runtime + "\""));
      boolean fits =
          here.map(found -> RuntimeRange.of(runtime).admits(found.version()))
              .orElse(runtimes.contains(runtime));
      if (fits) {
        call(folder);
      } else {
        assertThatThrownBy(() -> call(folder))
            .hasMessageContaining(runtimes.contains(runtime) ? "TOL-213" : "TOL-212")
            .hasMessageContaining(runtime);
      }
    }
  }

  @Test
  void aRuntimeThatIsNotThereSaysSo() throws IOException {
    Path program = home.resolve("python3");
    Interpreter interpreter = Interpreter.asked(program.toString(), "--version");
    assertThatThrownBy(interpreter::version).hasMessageContaining("TOL-214");
    Files.writeString(program, "#!/bin/sh\necho no\n");
    program.toFile().setExecutable(true);
    assertThatThrownBy(interpreter::version).hasMessageContaining("TOL-214");
    Files.writeString(program, "#!/bin/sh\necho Python 3.12.1\n");
    assertThat(interpreter.version()).isEqualTo("3.12.1");
    Files.writeString(program, "#!/bin/sh\necho Python 3.12.10\n");
    assertThat(interpreter.version()).as("after an upgrade").isEqualTo("3.12.10");
  }

  @Test
  void anotherDriversPackageIsRefused() {
    Path folder = Dialect.ALL.getFirst().template(home.resolve("my-tool"));
    ToolManifest manifest = ToolProject.open(folder).manifest();
    assertThatThrownBy(() -> driver("node").prepare(manifest, "count", file -> new byte[0]))
        .hasMessageContaining("TOL-001");
  }

  /**
   * A further language is an adapter, its worker, its template and two lines of registration: no
   * other file of the product knows that there is Perl. ({@code Executables} knows the trees of
   * several programs, for tools of other kinds.)
   */
  @Test
  void theCoreKnowsNoLanguage() throws IOException {
    Path product = Path.of("..").toRealPath();
    TreeMap<String, String> found = new TreeMap<>();
    try (Stream<Path> all =
        Stream.of("canonicalize", "guardian", "ledger", "executor", "replay", "gateway", "tools")
            .map(module -> product.resolve(module + "/src/main"))
            .flatMap(EachLanguageKeepsOneContractTest::walk)) {
      for (Path file : all.filter(Files::isRegularFile).toList()) {
        String name = file.toString();
        if (name.matches(".*\\.(java|json|py|pl|pm|mjs|js|yaml|manifest|lock)")
            && Files.readString(file).toLowerCase(Locale.ROOT).contains("perl")) {
          found.put(name.substring(name.indexOf("/tools/") + 1), "");
        }
      }
    }
    assertThat(found.keySet())
        .extracting(name -> name.substring(name.lastIndexOf("dev/writ/tools/") + 15))
        .containsExactlyInAnyOrder(
            "language/PerlAdapter.java",
            "language/LanguageDrivers.java",
            "author/languages.json",
            "author/perl/tool.manifest",
            "worker/WritHelpers.pm",
            "worker/worker.pl");
  }

  private static Stream<Path> walk(Path folder) {
    try {
      return Files.walk(folder);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
