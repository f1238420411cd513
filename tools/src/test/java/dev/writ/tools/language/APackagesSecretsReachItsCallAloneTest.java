package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.process.SecretDirectory;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.FieldSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A package's secrets are files of its call, named in its manifest, and in nothing that leaves. */
class APackagesSecretsReachItsCallAloneTest {
  private static final String VALUE = "correct-horse-battery";

  @TempDir static Path kept;
  private static SecretDirectory secrets;
  private static TestHosts hosts;
  @TempDir Path home;

  @BeforeAll
  static void open() {
    secrets = new SecretDirectory(kept.resolve("secrets"));
    secrets.put("billing", VALUE.getBytes(StandardCharsets.UTF_8));
    secrets.put("other", "never-to-be-seen".getBytes(StandardCharsets.UTF_8));
    hosts = TestHosts.open(secrets, Optional.empty());
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  private ToolProject project(String language, String code, String... replacements)
      throws IOException {
    Path folder = Files.createTempDirectory(home, "tool").resolve("my-tool");
    Templates.make(Language.named(language).orElseThrow(), "my-tool", folder);
    Path manifest = folder.resolve("tool.manifest");
    String text =
        Files.readString(manifest)
            .replace("  spawn: false", "  secrets: [billing]\n  spawn: false");
    for (int i = 0; i < replacements.length; i += 2) {
      assertThat(text).contains(replacements[i]);
      text = text.replace(replacements[i], replacements[i + 1]);
    }
    Files.writeString(manifest, text);
    Dialect.entry(folder, code);
    return ToolProject.open(folder);
  }

  private static DriverOutcome run(ToolProject project) {
    ToolManifest made = project.manifest();
    Driver driver =
        LanguageDrivers.all(hosts.host()).stream()
            .filter(d -> d.name().equals(made.driver()))
            .findFirst()
            .orElseThrow();
    return new Call(driver.prepare(made, "count", file -> project.files().get(file.path())))
        .sandbox(made.sandboxes().getFirst())
        .memoryBytes(512L << 20)
        .params(JsonValue.object().put("text", "").build())
        .run();
  }

  private static DriverOutcome masked(DriverOutcome outcome) {
    assertThat(Call.show(outcome)).doesNotContain(VALUE).doesNotContain("never-to-be-seen");
    return outcome;
  }

  static final List<List<String>> READERS =
      List.of(
          List.of(
              "python",
              """
              import os

              def count(input, context):
                  got = open(context['secrets']['billing']).read()
                  print(got)
                  return {'n': len(got), 'got': got, 'all': os.listdir('/run/secrets')}
              """),
          List.of(
              "node",
              """
              import { readFileSync, readdirSync } from 'node:fs';
              export function count(input, context) {
                const got = readFileSync(context.secrets.billing, 'utf8');
                console.log(got);
                return { n: got.length, got, all: readdirSync('/run/secrets') };
              }
              """),
          List.of(
              "perl",
              """
              package Tool;
              use strict;
              sub count {
                my ($input, $context) = @_;
                open(my $in, '<', $context->{secrets}{billing}) or die $!;
                my $got = <$in>;
                print $got;
                opendir(my $all, '/run/secrets') or die $!;
                return { n => length $got, got => $got, all => [grep { !/^[.]/ } readdir $all] };
              }
              1;
              """));

  @ParameterizedTest
  @FieldSource("READERS")
  void itIsThereForTheCallAndMaskedInWhatTheCallGives(List<String> reader) throws IOException {
    DriverOutcome outcome = masked(run(project(reader.get(0), reader.get(1))));
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(Call.text(outcome))
        .isEqualTo("{\"all\":[\"billing\"],\"got\":\"[secret]\",\"n\":" + VALUE.length() + "}");
    assertThat(outcome.observations().get("stderr").toString()).contains("[secret]");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "raise ValueError('no ' + got)",
        "import sys; sys.stderr.write(got); sys.exit(3)",
        "os.write(1, got.encode())",
        "write_frame({'protocol': 1, 'kind': got})",
        "return {got: got}"
      })
  void whateverTheToolDoesWithIt(String code) throws IOException {
    String python =
        """
        import json, os, struct

        def write_frame(frame):
            body = json.dumps(frame).encode()
            for fd in range(3, 10):
                try:
                    os.write(fd, struct.pack('>I', len(body)) + body)
                except OSError:
                    pass
            os._exit(0)

        def count(input, context):
            got = open(context['secrets']['billing']).read()
            %s
        """;
    DriverOutcome outcome = masked(run(project("python", python.formatted(code))));
    assertThat(Call.show(outcome)).contains("[secret]");
  }

  @Test
  void bytesAndArtifactsAreMaskedToo() throws IOException {
    DriverOutcome outcome =
        masked(
            run(
                project(
                    "python",
                    """
                    def count(input, context):
                        got = open(context['secrets']['billing'], 'rb').read()
                        with open(context['artifacts'] + '/a.txt', 'wb') as out:
                            out.write(b'<' + got + b'>')
                        return b'x' + got
                    """,
                    "artifacts: []",
                    "artifacts: [text/plain]",
                    OUTPUT,
                    "    media_type: text/plain\n")));
    assertThat(Call.text(outcome)).isEqualTo("x[secret]");
    assertThat(outcome.artifacts().getFirst().bytes())
        .isEqualTo("<[secret]>".getBytes(StandardCharsets.UTF_8));
  }

  private static final String OUTPUT =
      """
          output:
            type: object
            properties:
              lines: { type: integer, minimum: 0 }
              words: { type: integer, minimum: 0 }
              characters: { type: integer, minimum: 0 }
            required: [lines, words, characters]
            additionalProperties: false
      """;

  @Test
  void oneThatIsNotKeptIsARefusalAndNoCall() throws IOException {
    ToolProject project =
        project("python", "def count(i, c):\n    return {}\n", "[billing]", "[missing]");
    DriverOutcome outcome = run(project);
    assertThat(outcome.end() + " " + outcome.message()).startsWith("FAILED").contains("TOL-041");
  }

  @ParameterizedTest
  @CsvSource({
    "'secrets: [billing]','secrets: [\"../billing\"]',no name of a secret",
    "'determinism: recorded',determinism: reproducible,secrets is recorded"
  })
  void whatCannotBeIsRefusedInTheManifest(String from, String to, String why) {
    assertThatThrownBy(() -> project("python", "x", from, to))
        .hasMessageContaining("TOL-201")
        .hasMessageContaining(why);
  }
}
