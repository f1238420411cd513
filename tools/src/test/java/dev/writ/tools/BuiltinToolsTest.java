package dev.writ.tools;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.registry.BuiltinTools;
import dev.writ.tools.wasm.SandboxProfile;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The tools of the release are packages like any other, and say what they are. */
class BuiltinToolsTest {
  @Test
  void eachOfThoseThatRunNoProcessIsCompletePureAndStrict() {
    assertThat(BuiltinTools.manifests().stream().map(ToolManifest::name))
        .containsExactly(
            "code_ephemeral",
            "code_interpreter",
            "code_reproducible",
            "exec",
            "exec_ephemeral",
            "git_cli",
            "js",
            "sql",
            "web_browser",
            "word-count");
    for (ToolManifest manifest : BuiltinTools.manifests()) {
      if (!manifest.sandboxes().contains(SandboxProfile.NAME)) {
        continue;
      }
      assertThat(manifest.determinism()).isEqualTo(Determinism.PURE);
      Driver driver = TestTools.driver(manifest.driver());
      assertThat(driver.determinism()).isEqualTo(Determinism.PURE);
      for (ToolManifest.Operation operation : manifest.operations()) {
        assertThat(operation.input().get("additionalProperties")).isEqualTo(JsonValue.FALSE);
        operation
            .output()
            .ifPresent(schema ->
                assertThat(schema.get("additionalProperties")).isEqualTo(JsonValue.FALSE));
        assertThat(driver.prepare(manifest, operation.name(), BuiltinTools.content(manifest)))
            .isNotNull();
      }
      manifest.files().forEach(file -> BuiltinTools.content(manifest).read(file));
    }
  }

  @Test
  void contentWithAnotherDigestIsRefused() {
    ToolManifest m = BuiltinTools.manifest("word-count", "1.0.0").orElseThrow();
    ToolManifest.PackageFile file = m.files().getFirst();
    var forged = new ToolManifest.PackageFile(file.path(), Digest.sha256(), file.size());
    assertThatThrownBy(() -> BuiltinTools.content(m).read(forged)).hasMessageContaining("TOL-025");
  }

  @Test
  void theProfilesOfTheDriversDiffer() {
    assertThat(
            TestTools.DRIVERS.byName().values().stream()
                .map(driver -> driver.sandboxProfile("wasm"))
                .distinct())
        .hasSize(4);
  }

  @Test
  void theVersionsInTheProfilesAreThoseOfTheJars() throws Exception {
    assertThat(SandboxProfile.CHICORY)
        .isEqualTo("chicory " + version("com.dylibso.chicory/runtime"));
    assertThat(field("dev.writ.tools.js.QuickJs"))
        .isEqualTo("quickjs4j " + version("io.roastedroot/quickjs4j"));
    assertThat(field("dev.writ.tools.sql.Sqlite"))
        .isEqualTo("sqlite4j " + version("io.roastedroot/sqlite4j"));
  }

  private static String field(String className) throws Exception {
    var field = Class.forName(className).getDeclaredField("VERSION");
    field.setAccessible(true);
    return (String) field.get(null);
  }

  private static String version(String artifact) throws Exception {
    Properties properties = new Properties();
    try (var in =
        ClassLoader.getSystemResourceAsStream("META-INF/maven/" + artifact + "/pom.properties")) {
      properties.load(in);
    }
    return properties.getProperty("version");
  }

  @Test
  void theModulesAreWhatTheirTextsAssembleTo(@TempDir Path dir) throws Exception {
    boolean installed = false;
    for (String path : System.getenv().getOrDefault("PATH", "").split(File.pathSeparator)) {
      installed |= Files.isExecutable(Path.of(path, "wat2wasm"));
    }
    boolean ci = "true".equals(System.getenv("CI"));
    assumeTrue(installed || ci, "wat2wasm (Debian package wabt) is not installed");
    for (String name : new String[] {"registry/builtin/word-count/word-count", "wasm/guest"}) {
      Path wat = Files.write(dir.resolve("m.wat"), TestTools.resource(name + ".wat"));
      Path wasm = dir.resolve("m.wasm");
      Process process =
          new ProcessBuilder("wat2wasm", wat.toString(), "-o", wasm.toString()).inheritIO().start();
      assertThat(process.waitFor()).isZero();
      assertThat(Files.readAllBytes(wasm)).as(name).isEqualTo(TestTools.resource(name + ".wasm"));
    }
  }
}
