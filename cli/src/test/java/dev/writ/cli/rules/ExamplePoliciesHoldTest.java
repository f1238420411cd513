package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.embed.home.Home;
import dev.writ.embed.home.StarterPolicy;
import dev.writ.guardian.policy.Policy;
import dev.writ.guardian.policy.PolicyAdvice;
import dev.writ.guardian.policy.limit.RunLimits;
import dev.writ.tools.registry.BuiltinTools;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** No policy that people copy from here teaches a wall that is none. */
class ExamplePoliciesHoldTest {

  /** Files that show policies: pages, resources, examples, and what the program writes. */
  private static List<Path> files() throws IOException {
    List<Path> files = new ArrayList<>();
    try (Stream<Path> all = Files.walk(Project.root())) {
      all.filter(Files::isRegularFile)
          .filter(file -> file.toString().matches(".*\\.(ya?ml|md|java)"))
          .filter(file -> !file.toString().contains("/target/"))
          .filter(file -> !file.toString().contains("/src/test/"))
          .forEach(files::add);
    }
    return files;
  }

  @Test
  void noneMatchesTheTextOfAProgram() throws IOException {
    List<Path> files = files();
    assertThat(files).hasSizeGreaterThan(500);
    List<String> found = new ArrayList<>();
    int expressions = 0;
    for (Path file : files) {
      for (String line : Project.read(file).lines().toList()) {
        int cel = line.indexOf("cel: ");
        if (cel >= 0) {
          expressions++;
          if (PolicyAdvice.matchesProgramText(line.substring(cel))) {
            found.add(Project.root().relativize(file) + ": " + line.strip());
          }
        }
      }
    }
    assertThat(expressions).isGreaterThan(10);
    assertThat(found).isEmpty();
  }

  @Test
  void theStarterClosesRunsSharesNoneAndGoesNowhere() {
    String text =
        StarterPolicy.text(new Home.Names("local", "agent", "approver"), BuiltinTools.manifests());
    Policy policy = Policy.parse(text.getBytes(StandardCharsets.UTF_8), "policy.yaml");
    assertThat(PolicyAdvice.of(policy)).isEmpty();
    RunLimits runs = policy.runs().orElseThrow();
    assertThat(runs.idleMaxS()).isLessThanOrEqualTo(3600);
    assertThat(runs.lifeMaxS()).isPresent();
    assertThat(runs.sharedBy()).isEmpty();
    assertThat(policy.roles().values()).allMatch(role -> role.network().isEmpty());
    assertThat(text).contains("network: []");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "!params.source.contains('eval(') | true",
        "params['sql'].lowerAscii().contains(\"salary\") | true",
        "string(params.code).matches('(?i)import os') | true",
        "params.script.startsWith('#!') | true",
        "size(params.source) < 20000 && params.name.startsWith('a') | false",
        "params.url.startsWith('https://') | false",
        "params.sources.contains('a') | false",
        "effect.resources.output_bytes <= 1048576 | false",
        "params.source == '6*7' | false"
      })
  void aPolicyIsWarnedOfIt(String cel, boolean warned) {
    assertThat(PolicyAdvice.matchesProgramText(cel)).isEqualTo(warned);
  }
}
