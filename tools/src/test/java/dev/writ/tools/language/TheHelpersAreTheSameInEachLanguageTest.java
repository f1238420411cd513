package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.Call;
import dev.writ.tools.Drivers;
import dev.writ.tools.author.JavaScanner;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Lint;
import dev.writ.tools.author.NodeScanner;
import dev.writ.tools.author.Scanner;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.js.JsDriver;
import dev.writ.tools.process.SecretStore;
import dev.writ.tools.process.TestHosts;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.FieldSource;

/** What the platform provides to tools: secrets, artifacts and inputs by their names. */
class TheHelpersAreTheSameInEachLanguageTest {
  private static TestHosts hosts;
  private static Drivers drivers;
  @TempDir Path home;

  /**
   * Writes an artifact, reads an input and a secret, and tells of a secret that is not declared.
   */
  static final List<List<String>> TOOLS =
      List.of(
          List.of(
              "python",
              """
              import writ_helpers

              def count(input, context):
                  with open(writ_helpers.artifact(context, 'a.txt'), 'w') as out:
                      out.write(open(writ_helpers.input(context, 'in.txt')).read())
                  try:
                      writ_helpers.secret(context, 'other')
                  except LookupError as error:
                      refused = error.args[0]
                  return {'version': writ_helpers.VERSION, 'refused': refused,
                          'characters': len(writ_helpers.secret(context, 'billing'))}
              """),
          List.of(
              "node",
              """
              import { readFileSync, writeFileSync } from 'node:fs';
              import { VERSION, artifact, input, secret } from 'writ-helpers';
              export function count(_, context) {
                writeFileSync(artifact(context, 'a.txt'), readFileSync(input(context, 'in.txt')));
                let refused;
                try { secret(context, 'other'); } catch (error) { refused = error.message; }
                return { version: VERSION, refused, characters: secret(context, 'billing').length };
              }
              """),
          List.of(
              "perl",
              """
              package Tool;
              use strict;
              use WritHelpers;
              sub count {
                my ($input, $context) = @_;
                open(my $in, '<', WritHelpers::input($context, 'in.txt')) or die $!;
                open(my $out, '>', WritHelpers::artifact($context, 'a.txt')) or die $!;
                print {$out} <$in>;
                close $out or die $!;
                eval { WritHelpers::secret($context, 'other') };
                chomp(my $refused = $@);
                return { version => $WritHelpers::VERSION, refused => $refused,
                         characters => length WritHelpers::secret($context, 'billing') };
              }
              1;
              """),
          List.of(
              "java",
              """
              import java.nio.file.Files;
              import java.util.Map;
              import java.util.NoSuchElementException;
              import writ.Helpers;

              public final class Tool {
                public static Object count(Map<String, Object> input, Map<String, Object> context)
                    throws Exception {
                  Files.copy(Helpers.input(context, "in.txt"), Helpers.artifact(context, "a.txt"));
                  String refused = "";
                  try {
                    Helpers.secret(context, "other");
                  } catch (NoSuchElementException e) {
                    refused = e.getMessage();
                  }
                  return Map.of("version", Helpers.VERSION, "refused", refused,
                      "characters", Helpers.secret(context, "billing").length());
                }
              }
              """));

  @BeforeAll
  static void open() {
    hosts = TestHosts.open(SecretStore.standIns(), Optional.empty());
    drivers = Drivers.wasmFamily();
  }

  @AfterAll
  static void close() {
    drivers.close();
    hosts.close();
  }

  private static Lint lint() {
    TreeMap<Language, Scanner> scanners = new TreeMap<>();
    scanners.put(Language.NODE, new NodeScanner(drivers.byName().get(JsDriver.NAME)));
    scanners.put(Language.JAVA, new JavaScanner());
    scanners.put(Language.PYTHON, new PythonScanner(hosts.host()));
    return new Lint(scanners);
  }

  @ParameterizedTest
  @FieldSource("TOOLS")
  void theyGiveWhatTheManifestDeclares(List<String> tool) throws IOException {
    Path folder = home.resolve("my-tool");
    Templates.make(Language.named(tool.get(0)).orElseThrow(), "my-tool", folder);
    Path manifest = folder.resolve("tool.manifest");
    Files.writeString(
        manifest,
        Files.readString(manifest)
            .replace("artifacts: []", "artifacts: [text/plain]\n  secrets: [billing]"));
    Dialect.entry(folder, tool.get(1));
    ToolProject project = ToolProject.open(folder);
    assertThat(lint().check(project)).isEmpty();
    ToolManifest made = project.manifest();
    Driver driver =
        LanguageDrivers.all(hosts.host()).stream()
            .filter(d -> d.name().equals(made.driver()))
            .findFirst()
            .orElseThrow();
    DriverOutcome outcome =
        new Call(driver.prepare(made, "count", file -> project.files().get(file.path())))
            .sandbox(made.sandboxes().getFirst())
            .memoryBytes(512L << 20)
            .input("in.txt", "of the caller")
            .run();
    assertThat(outcome.end()).as(Call.show(outcome)).isEqualTo(DriverOutcome.End.SUCCEEDED);
    assertThat(Call.text(outcome))
        .isEqualTo(
            "{\"characters\":"
                + "stand-in for billing".length()
                + ",\"refused\":\"the tool declares no secret other\",\"version\":1}");
    assertThat(outcome.artifacts().getFirst().bytes())
        .isEqualTo("of the caller".getBytes(StandardCharsets.UTF_8));
  }
}
