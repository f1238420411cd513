package dev.writ.tools.hostile;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.executor.Answer;
import dev.writ.executor.driver.Driver;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestKeys;
import dev.writ.fixture.TestPolicy;
import dev.writ.guardian.document.Resources;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.Verdict;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.RuntimeRange;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.language.LanguageDrivers;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A package that is registered and approved, and is not what it should be, is refused before
 * anything is dispatched: by the Guardian, or by stage 3.
 */
class AHostilePackageIsNeverDispatchedTest {
  @TempDir static Path dir;
  private static TestHosts hosts;
  private static TestHome home;
  private static int tools;

  @BeforeAll
  static void open() throws IOException {
    hosts = TestHosts.open();
    home = TestHome.create(Files.createDirectory(dir.resolve("home")));
    home.drivers.addAll(LanguageDrivers.all(hosts.host()));
    home.restart();
  }

  @AfterAll
  static void close() {
    home.close();
    hosts.close();
  }

  /** The files of a new project in Python, with a text of tool.manifest replaced. */
  private static ToolProject project(String from, String to) throws IOException {
    Path folder = dir.resolve("tool-" + ++tools);
    Templates.make(Language.PYTHON, "tool-" + tools, folder);
    Path manifest = folder.resolve("tool.manifest");
    String text = Files.readString(manifest);
    assertThat(text).contains(from);
    Files.writeString(manifest, text.replace(from, to));
    return ToolProject.open(folder);
  }

  private static Answer submit(ToolManifest manifest, Driver.PackageContent content) {
    home.tools.register(manifest, content);
    home.activate(
        TestPolicy.YAML
            .replace("[calc", "[" + manifest.name() + ", calc")
            .replace("[box, missing-box]", "[box, missing-box, restricted]")
            .replace(
                "requirements:\n",
                "requirements:\n  - { effect: { tool: "
                    + manifest.name()
                    + " }, require: { cel: 'true' } }\n"));
    return home.submit(
        home.ask("alice")
            .run(manifest.name())
            .tool(manifest.name())
            .operation("count")
            .params("{\"text\":\"x\"}")
            .resources(new Resources(5_000, 64L << 20, 1L << 20, 10_000))
            .sandbox(manifest.sandboxes().getFirst()));
  }

  /** The code of the decision or of the refusal; what was dispatched has none. */
  private static String codeOf(ToolManifest manifest, Driver.PackageContent content) {
    String code;
    try {
      Answer answer = submit(manifest, content);
      code =
          answer.decision().verdict() == Verdict.ALLOW
              ? answer.served().orElseThrow().receipt().reason()
              : "DENY " + answer.decision().code().orElseThrow();
    } catch (WritException refused) {
      code = refused.code().code();
    }
    boolean dispatched = home.kinds(TestKeys.TENANT, manifest.name()).contains("effect.dispatched");
    return dispatched ? "dispatched: " + code : code;
  }

  private static Driver.PackageContent files(ToolProject project) {
    return file -> project.files().get(file.path());
  }

  @Test
  void aGoodOneRuns() throws IOException {
    ToolProject project = project("spawn: false", "spawn: false");
    assertThat(codeOf(project.manifest(), files(project))).isEqualTo("dispatched: ok");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "network: [] | network: [\"198.51.100.7:443\"] | DENY GRD-410",
        "spawn: false | spawn: true | DENY GRD-407",
        "runtime: \"3\" | runtime: \"99+\" | TOL-212",
        "runtime: \"3\" | runtime: \"2\" | TOL-212",
      })
  void whatItAsksForIsNotThere(String from, String to, String code) throws IOException {
    ToolProject project = project(from, to);
    assertThat(codeOf(project.manifest(), files(project))).isEqualTo(code);
  }

  @Test
  void itIsWrittenForAnotherRuntimeThanThisHostHas() throws IOException {
    String here =
        LanguageDrivers.all(hosts.host()).stream()
            .filter(driver -> driver.name().equals("python"))
            .findFirst()
            .orElseThrow()
            .runtime(project("spawn: false", "spawn: false").manifest())
            .orElseThrow()
            .version();
    String other =
        Language.PYTHON.runtimes().stream()
            .filter(runtime -> !RuntimeRange.of(runtime).admits(here))
            .findFirst()
            .orElseThrow();
    ToolProject project = project("runtime: \"3\"", "runtime: \"" + other + "\"");
    assertThat(codeOf(project.manifest(), files(project))).isEqualTo("TOL-213");
  }

  @Test
  void itsFilesAreNotThoseThatWereApproved() throws IOException {
    for (String path : new String[] {"src/tool.py", "tool.manifest", "tool.lock"}) {
      ToolProject project = project("spawn: false", "spawn: false");
      TreeMap<String, byte[]> changed = new TreeMap<>(project.files());
      changed.put(
          path,
          (new String(changed.get(path), StandardCharsets.UTF_8) + "#")
              .getBytes(StandardCharsets.UTF_8));
      assertThat(codeOf(project.manifest(), file -> changed.get(file.path())))
          .as(path)
          .isEqualTo("EXE-308");
    }
    ToolProject gone = project("spawn: false", "spawn: false");
    assertThat(
            codeOf(
                gone.manifest(),
                file -> {
                  throw new WritException(ToolsError.PACKAGE_FILES, "there is no " + file.path());
                }))
        .isEqualTo("TOL-024");
  }

  /** Whoever registered it did without lint. */
  @ParameterizedTest
  @CsvSource({
    "src/ghost.pyc, x, TOL-219",
    "src/__pycache__/tool.cpython-311.pyc, x, TOL-219",
    "src/other.py, '# coding: utf-7', TOL-218",
  })
  void itHoldsWhatNobodyRead(String path, String text, String code) throws IOException {
    project("spawn: false", "spawn: false");
    Path file = dir.resolve("tool-" + tools).resolve(path);
    Files.createDirectories(file.getParent());
    Files.writeString(file, text + "\n");
    ToolProject hostile = ToolProject.open(dir.resolve("tool-" + tools));
    assertThat(codeOf(hostile.manifest(), files(hostile))).isEqualTo(code);
  }

  @Test
  void itIsOfALaterRelease() throws IOException {
    ToolProject project = project("spawn: false", "spawn: false");
    byte[] later =
        new String(project.files().get("tool.manifest"), StandardCharsets.UTF_8)
            .replace("format: 1", "format: 2")
            .getBytes(StandardCharsets.UTF_8);
    TreeMap<String, byte[]> changed = new TreeMap<>(project.files());
    changed.put("tool.manifest", later);
    // Of the same length, so that the digest alone differs.
    String json = new String(Jcs.write(project.manifest().toJson()), StandardCharsets.UTF_8);
    String digest = Digest.sha256(project.files().get("tool.manifest")).toString();
    ToolManifest manifest =
        ToolManifest.read(
            Jcs.parse(
                json.replace(digest, Digest.sha256(later).toString())
                    .getBytes(StandardCharsets.UTF_8)));
    assertThat(codeOf(manifest, file -> changed.get(file.path()))).isEqualTo("TOL-202");
  }

  @Test
  void itSaysNothingOfItself() throws IOException {
    ToolProject project = project("spawn: false", "spawn: false");
    String json = new String(Jcs.write(project.manifest().toJson()), StandardCharsets.UTF_8);
    ToolManifest manifest =
        ToolManifest.read(
            Jcs.parse(
                json.replace("tool.manifest", "tool.manifesx").getBytes(StandardCharsets.UTF_8)));
    assertThat(codeOf(manifest, file -> project.files().get("tool.manifest"))).isEqualTo("TOL-024");
  }

  @Test
  void itWasRevoked() throws IOException {
    ToolProject project = project("spawn: false", "spawn: false");
    home.prohibit(project.manifest().name(), "1.0.0");
    assertThat(codeOf(project.manifest(), files(project))).isEqualTo("EXE-303");
  }
}
