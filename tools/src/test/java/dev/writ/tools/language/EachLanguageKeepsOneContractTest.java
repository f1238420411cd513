package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.Outcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What the conformance test of an adapter is: the same calls, the same ends, in each language. */
class EachLanguageKeepsOneContractTest {
  private static TestHosts hosts;
  @TempDir Path home;

  @BeforeAll
  static void open() {
    hosts = TestHosts.open(SecretStore.NONE, Optional.empty());
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  private static LanguageAdapter adapter(Language language) {
    return switch (language) {
      case PYTHON -> new PythonAdapter();
      case NODE -> new NodeAdapter();
      case JAVA -> new JavaAdapter();
      case PROCESS -> new ExecutableAdapter();
      case WASM -> throw new AssertionError("has a driver of its own");
    };
  }

  private Path project(Language language) {
    Path folder = home.resolve("my-tool");
    Templates.make(language, "my-tool", folder);
    return folder;
  }

  /** One operation {@code count}, whose body is the code given. */
  private Path project(Language language, String body) {
    Path folder = project(language);
    String source =
        switch (language) {
          case PYTHON -> "import os, sys, time\n\ndef count(input, context):\n    " + body + "\n";
          case NODE -> "export function count(input, context) {\n" + body + "\n}\n";
          case JAVA ->
              "import java.util.Map;\n"
                  + "public final class Tool {\n"
                  + "public static Object count(Map<String, Object> input, Map<String, Object>"
                  + " context) throws Exception {\n"
                  + body
                  + "\n}\n}\n";
          default -> throw new AssertionError();
        };
    try {
      Files.writeString(folder.resolve(ToolProject.open(folder).source().entry()), source);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    return folder;
  }

  private static Call call(Path folder) {
    ToolProject project = ToolProject.open(folder);
    ToolManifest manifest = project.manifest();
    Driver driver = new LanguageDriver(adapter(project.source().language()), hosts.host());
    return new Call(driver.prepare(manifest, "count", file -> project.files().get(file.path())))
        .sandbox(manifest.sandboxes().getFirst())
        .memoryBytes(512L << 20)
        .params(JsonValue.object().put("text", "one two\nthree\n").build());
  }

  private static void ends(Outcome outcome, Outcome.End end, String reason) {
    assertThat(outcome.end() + " " + outcome.reason())
        .as(Call.show(outcome))
        .isEqualTo(end + " " + reason);
  }

  @ParameterizedTest
  @EnumSource(value = Language.class, names = "WASM", mode = EnumSource.Mode.EXCLUDE)
  void aNewProjectGivesWhatItsTestSays(Language language) {
    assertThat(call(project(language)).text())
        .isEqualTo("{\"characters\":14,\"lines\":2,\"words\":3}");
  }

  @ParameterizedTest
  @EnumSource(
      value = Language.class,
      names = {"PYTHON", "NODE", "JAVA"})
  void whatAToolPrintsIsNoPartOfTheProtocol(Language language) {
    String body =
        switch (language) {
          case PYTHON -> "print('x' * 100); sys.stdout.write('y'); return {'ok': True}";
          case NODE ->
              "console.log('x'.repeat(100)); process.stdout.write('y'); return { ok: true };";
          default -> "System.out.println(\"x\".repeat(100)); return Map.of(\"ok\", true);";
        };
    Outcome outcome = call(project(language, body)).run();
    ends(outcome, Outcome.End.SUCCEEDED, "ok");
    assertThat(Call.text(outcome)).isEqualTo("{\"ok\":true}");
    assertThat(outcome.observations().get("stderr").toString()).contains("xxx");
  }

  @ParameterizedTest
  @EnumSource(
      value = Language.class,
      names = {"PYTHON", "NODE", "JAVA"})
  void anErrorOfTheToolIsAFailureWithItsWords(Language language) {
    String body =
        switch (language) {
          case PYTHON -> "raise ValueError('no such order')";
          case NODE -> "throw new Error('no such order');";
          default -> "throw new IllegalStateException(\"no such order\");";
        };
    Outcome outcome = call(project(language, body)).run();
    ends(outcome, Outcome.End.FAILED, "tool-error");
    assertThat(outcome.message()).contains("no such order");
  }

  @ParameterizedTest
  @EnumSource(
      value = Language.class,
      names = {"PYTHON", "NODE", "JAVA"})
  void aWorkerThatDiesSaysNothing(Language language) {
    String body =
        switch (language) {
          case PYTHON -> "os._exit(7)";
          case NODE -> "process.kill(process.pid, 'SIGKILL'); for (;;) {}";
          default -> "Runtime.getRuntime().halt(3); return null;";
        };
    ends(call(project(language, body)).run(), Outcome.End.FAILED, "worker-died");
  }

  @ParameterizedTest
  @EnumSource(
      value = Language.class,
      names = {"PYTHON", "NODE", "JAVA"})
  void aWorkerThatHangsIsEnded(Language language) {
    String body =
        switch (language) {
          case PYTHON -> "time.sleep(1000)";
          case NODE -> "for (;;) {}";
          default -> "Thread.sleep(1000000); return null;";
        };
    Outcome outcome = call(project(language, body)).wallMs(3_000).run();
    ends(outcome, Outcome.End.TIMED_OUT, "timed-out");
  }

  @ParameterizedTest
  @EnumSource(
      value = Language.class,
      names = {"PYTHON", "NODE", "JAVA"})
  void codeThatDoesNotLoadIsToldFromCodeThatFails(Language language) {
    Path folder = project(language);
    Path entry = folder.resolve(ToolProject.open(folder).source().entry());
    try {
      Files.writeString(entry, "this is no program(");
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    ends(call(folder).run(), Outcome.End.FAILED, "dependency-load-failure");
  }

  @Test
  void aLyingWorkerGainsNothing() {
    for (String frames :
        new String[] {
          "garbage",
          "\\x00\\x00\\x00\\x02{}",
          "\\xff\\xff\\xff\\xff",
          "\\x00\\x00\\x00\\x20{\"protocol\":2,\"kind\":\"ready\"}      ",
          "\\x00\\x00\\x00\\x1e{\"protocol\":1,\"protocol\":1}      ",
        }) {
      Path folder = home.resolve("liar" + frames.hashCode());
      Templates.make(Language.PROCESS, "liar", folder);
      try {
        Files.writeString(
            folder.resolve("bin/tool"),
            "#!/usr/bin/python3 -I\nimport sys\nsys.stdout.buffer.write(b'"
                + frames.replace("'", "")
                + "')\n");
      } catch (IOException e) {
        throw new AssertionError(e);
      }
      ends(call(folder).run(), Outcome.End.FAILED, "protocol-violation");
    }
  }

  @Test
  void anotherDriversPackageIsRefused() {
    Path folder = project(Language.PYTHON);
    ToolManifest manifest = ToolProject.open(folder).manifest();
    assertThatThrownBy(() ->
            new LanguageDriver(new NodeAdapter(), hosts.host())
                .prepare(manifest, "count", file -> new byte[0]))
        .hasMessageContaining("TOL-001");
  }
}
