package dev.writ.tools.language;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.writ.executor.driver.Driver;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.Lint;
import dev.writ.tools.author.Templates;
import dev.writ.tools.author.ToolProject;
import dev.writ.tools.author.ToolTests;
import dev.writ.tools.process.TestHosts;
import dev.writ.tools.registry.PackageDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code writ tool new dotnet} makes, built and called on a host that has .NET. */
class TheDotNetTemplateRunsWhereARuntimeIsTest {
  @TempDir Path home;
  private Path folder;

  @BeforeEach
  void make() {
    folder = home.resolve("my-tool");
    Templates.make(Language.DOTNET, "my-tool", folder);
  }

  private static boolean isHere() {
    return Files.isExecutable(Path.of(DotNetAdapter.DOTNET));
  }

  /** Both are checks: no host that the project's tests run on has the runtime so far. */
  @Test
  void itIsBuiltAndPassesItsTestOrTheHostSaysThatItHasNoRuntime() throws Exception {
    if (isHere()) {
      itIsBuiltAndPassesItsTest();
    } else {
      System.out.println("not built and not run: this host has no " + DotNetAdapter.DOTNET);
      aHostWithoutARuntimeSaysSoBeforeAnythingIsDispatched();
    }
  }

  private void itIsBuiltAndPassesItsTest() throws IOException, InterruptedException {
    ProcessBuilder publish =
        new ProcessBuilder(DotNetAdapter.DOTNET, "publish", "src", "--output", "bin")
            .directory(folder.toFile())
            .inheritIO();
    publish.environment().put("DOTNET_CLI_HOME", home.toString());
    publish.environment().put("DOTNET_CLI_TELEMETRY_OPTOUT", "1");
    assertThat(publish.start().waitFor()).isZero();
    try (TestHosts hosts = TestHosts.open()) {
      ToolProject project =
          ToolProject.of(
              PackageDirectory.files(
                  folder,
                  path -> !path.startsWith(ToolProject.TESTS) && !path.startsWith("src/obj/"),
                  ToolProject.BYTES_MAX));
      assertThat(new Lint(new TreeMap<>()).check(project)).isEmpty();
      var tests =
          PackageDirectory.files(folder, path -> path.startsWith(ToolProject.TESTS), 1 << 20);
      assertThat(new ToolTests(project, driver(hosts)).run(tests))
          .allSatisfy(verdict -> assertThat(verdict.found()).as(verdict.test()).isEmpty());
    }
  }

  private static Driver driver(TestHosts hosts) {
    return LanguageDrivers.all(hosts.host()).stream()
        .filter(driver -> driver.name().equals("dotnet"))
        .findFirst()
        .orElseThrow();
  }

  private void aHostWithoutARuntimeSaysSoBeforeAnythingIsDispatched() throws IOException {
    Files.createDirectories(folder.resolve("bin"));
    Files.write(folder.resolve("bin/tool.dll"), new byte[] {'M', 'Z'});
    ToolProject project = ToolProject.open(folder);
    try (TestHosts hosts = TestHosts.open()) {
      assertThatThrownBy(() ->
              driver(hosts)
                  .prepare(project.manifest(), "count", file -> project.files().get(file.path())))
          .hasMessageContaining("TOL-214")
          .hasMessageContaining("/usr/bin/dotnet");
    }
  }

  @Test
  void itsEntryIsGivenToTheRuntime() {
    assertThat(new DotNetAdapter().argv(ToolProject.open(folder).source()))
        .containsExactly("/usr/bin/dotnet", "exec", "/tool/bin/tool.dll");
  }
}
