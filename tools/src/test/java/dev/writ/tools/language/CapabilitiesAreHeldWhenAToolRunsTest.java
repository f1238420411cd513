package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.policy.engine.CallLimits;
import dev.writ.tools.Call;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a manifest does not declare, its tool does not have. */
class CapabilitiesAreHeldWhenAToolRunsTest {
  private static TestHosts hosts;
  @TempDir Path home;

  @BeforeAll
  static void open() {
    hosts = TestHosts.open();
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  private Call call(String language, String from, String to, String code) throws IOException {
    Path folder = home.resolve("my-tool");
    Templates.make(Language.named(language).orElseThrow(), "my-tool", folder);
    Path manifest = folder.resolve("tool.manifest");
    String text = Files.readString(manifest);
    assertThat(text).contains(from);
    Files.writeString(manifest, text.replace(from, to));
    Dialect.entry(folder, code);
    ToolProject project = ToolProject.open(folder);
    ToolManifest made = project.manifest();
    Driver driver =
        LanguageDrivers.all(hosts.host()).stream()
            .filter(d -> d.name().equals(language))
            .findFirst()
            .orElseThrow();
    return new Call(driver.prepare(made, "count", file -> project.files().get(file.path())))
        .sandbox(made.sandboxes().getFirst())
        .memoryBytes(512L << 20);
  }

  /** A tool's own words rarely say why it got no answer. */
  @Test
  void whatTheEgressProxyRefusesIsInTheCallersMessage() throws IOException {
    DriverOutcome outcome =
        call(
                "python",
                "network: []",
                "network: [\"allowed.example:443\"]",
                "import urllib.request\n\ndef count(input, context):\n"
                    + "    try:\n"
                    + "        urllib.request.urlopen('http://other.example/')\n"
                    + "    except Exception:\n"
                    + "        raise ValueError('no answer')\n")
            .run();
    assertThat(outcome.end() + " " + outcome.reason()).isEqualTo("FAILED tool-error");
    assertThat(outcome.message())
        .contains("no answer")
        .endsWith("; the egress proxy refused other.example:80 (not listed)");
  }

  private Call artifacts(String declared, String code) throws IOException {
    return call(
        "python",
        "artifacts: []",
        "artifacts: [" + declared + "]",
        "import os\n\ndef count(input, context):\n    at = context.get('artifacts')\n    "
            + code
            + "\n    return at is not None\n");
  }

  private static final String LEAVES =
      "open(at + '/b.json', 'w').write('{}'); os.mkdir(at + '/d');"
          + " open(at + '/d/a.json', 'w').write('[]'); open('/workspace/x.json', 'w')";

  @Test
  void declaredFilesAreLeft() throws IOException {
    DriverOutcome outcome = artifacts("application/json", LEAVES).run();
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(outcome.artifacts())
        .extracting(file -> file.name() + " " + file.mediaType() + " " + file.bytes().length)
        .containsExactly("b.json application/json 2", "d/a.json application/json 2");
    assertThat(artifactsOfNothing().artifacts()).isEmpty();
  }

  private DriverOutcome artifactsOfNothing() throws IOException {
    home = Files.createTempDirectory(home, "more");
    return artifacts("application/json", "pass").run();
  }

  @Test
  void undeclaredOnesAreAFailure() throws IOException {
    DriverOutcome outcome = artifacts("image/png", LEAVES).run();
    assertThat(outcome.end() + " " + outcome.reason()).isEqualTo("FAILED artifact-undeclared");
    assertThat(outcome.message()).contains("application/json is none of the declared [image/png]");
    assertThat(outcome.artifacts()).isEmpty();
  }

  @Test
  void whoDeclaresNoneLeavesNone() throws IOException {
    DriverOutcome outcome =
        artifacts("", "os.mkdir('/workspace/artifacts'); open('/workspace/artifacts/a.json', 'w')")
            .run();
    assertThat(Call.text(outcome)).isEqualTo("false");
    assertThat(outcome.artifacts()).isEmpty();
  }

  private static CallLimits limits(long count, long one, long all) {
    return new CallLimits(
        Optional.of(count),
        Optional.of(one),
        Optional.of(all),
        Optional.of(1L << 20),
        Optional.empty(),
        Optional.of(2L << 20),
        Optional.empty(),
        Optional.of(0L));
  }

  @ParameterizedTest
  @CsvSource({
    "2, 2, 4, SUCCEEDED ok",
    "1, 2, 4, FAILED artifact-limit",
    "2, 1, 4, FAILED artifact-limit",
    "2, 2, 3, FAILED artifact-limit"
  })
  void policySaysHowMuchACallLeaves(long count, long one, long all, String end) throws IOException {
    DriverOutcome outcome =
        artifacts("application/json", LEAVES).limits(limits(count, one, all)).run();
    assertThat(outcome.end() + " " + outcome.reason()).as(Call.show(outcome)).isEqualTo(end);
  }

  @Test
  void policySaysHowMuchItsFilesTake() throws IOException {
    String fill =
        """
        import os

        def room(path):
            s = os.statvfs(path)
            return s.f_blocks * s.f_frsize

        def count(input, context):
            return {'tmp': room('/tmp'), 'workspace': room('/workspace')}
        """;
    DriverOutcome outcome =
        call("python", "spawn: false", "spawn: false", fill).limits(limits(1, 1, 1)).run();
    assertThat(Call.text(outcome)).isEqualTo("{\"tmp\":1048576,\"workspace\":2097152}");
  }

  @Test
  void aLinkIsNoWayOut() throws IOException {
    DriverOutcome outcome =
        artifacts("application/json", "os.symlink('/etc/passwd', at + '/a.json')").run();
    assertThat(outcome.artifacts()).isEmpty();
  }

  @Test
  void whatIsNoMediaTypeIsRefused() {
    for (String no : new String[] {"png", "image/*", "\"*/*\"", "image/", "IMAGE/PNG"}) {
      assertThatThrownBy(
              () -> {
                home = Files.createTempDirectory(home, "more");
                artifacts(no, "pass");
              })
          .as(no)
          .hasMessageContaining("TOL-201");
    }
  }

  /** What the first of these programs says, started by a tool. */
  private static String spawning(String language) {
    return switch (language) {
      case "python" ->
          """
          import os
          def count(input, context):
              if os.fork() == 0:
                  try:
                      os.execv('/usr/bin/env', ['env'])
                  except OSError as error:
                      os._exit(error.errno)
              return os.waitstatus_to_exitcode(os.wait()[1])
          """;
      case "node" ->
          """
          import { spawnSync } from 'node:child_process';
          export function count() {
            const { status, error } = spawnSync('/usr/bin/env');
            return status ?? (error.code === 'ENOENT' ? 2 : error.code);
          }
          """;
      case "java" ->
          """
          import java.util.Map;
          public final class Tool {
            public static Object count(Map<String, Object> input, Map<String, Object> context)
                throws Exception {
              try {
                return new ProcessBuilder("/usr/bin/env").inheritIO().redirectOutput(
                    ProcessBuilder.Redirect.DISCARD).start().waitFor();
              } catch (java.io.IOException e) {
                return e.getMessage().contains("error: 2 ") ? 2 : e.getMessage();
              }
            }
          }
          """;
      case "perl" ->
          """
          package Tool;
          sub count { my $s = system { '/usr/bin/env' } 'env'; return $s == -1 ? $! + 0 : $s >> 8 }
          1;
          """;
      default ->
          """
          #!/usr/bin/python3 -I
          import json, os, struct, subprocess, sys
          def write(frame):
              body = json.dumps(frame).encode()
              sys.stdout.buffer.write(struct.pack(">I", len(body)) + body)
              sys.stdout.buffer.flush()
          write({"protocol": 1, "kind": "ready"})
          sys.stdin.buffer.read()
          try:
              status = subprocess.run(["/usr/bin/env"], stdout=subprocess.DEVNULL).returncode
          except OSError as error:
              status = error.errno
          write({"protocol": 1, "kind": "result", "output": status})
          """;
    };
  }

  @ParameterizedTest
  @ValueSource(strings = {"python", "node", "java", "perl", "process"})
  void whoDoesNotDeclareItFindsNoOtherProgram(String language) throws IOException {
    assertThat(call(language, "spawn: false", "spawn: false", spawning(language)).text())
        .isEqualTo("2"); // ENOENT: it is not there
    home = Files.createTempDirectory(home, "more");
    assertThat(call(language, "spawn: false", "spawn: true", spawning(language)).text())
        .isEqualTo("0");
  }
}
