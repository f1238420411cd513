package dev.writ.tools.author;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.executor.driver.Driver;
import dev.writ.tools.TestTools;
import dev.writ.tools.http.call.HttpDriver;
import dev.writ.tools.language.LanguageDrivers;
import dev.writ.tools.language.PythonScanner;
import dev.writ.tools.process.TestHosts;
import dev.writ.tools.registry.PackageDirectory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every tool of {@code examples/tools} passes {@code writ tool lint} and {@code writ tool test}.
 */
class TheExampleToolsDoWhatTheirTestsSayTest {
  private static final Path EXAMPLES = Path.of("../examples/tools");
  private static TestHosts hosts;
  private static Lint lint;

  @BeforeAll
  static void open() {
    hosts = TestHosts.open();
    TreeMap<Language, Scanner> scanners = new TreeMap<>();
    scanners.put(Language.NODE, new NodeScanner(TestTools.driver("js")));
    scanners.put(Language.JAVA, new JavaScanner());
    scanners.put(Language.PYTHON, new PythonScanner(hosts.host()));
    lint = new Lint(scanners);
  }

  @AfterAll
  static void close() {
    hosts.close();
  }

  static List<String> examples() {
    try (Stream<Path> folders = Files.list(EXAMPLES)) {
      return folders
          .filter(Files::isDirectory)
          .map(folder -> folder.getFileName().toString())
          .sorted()
          .toList();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Driver driver(String name) {
    if (name.equals(HttpDriver.NAME)) {
      return new HttpDriver(hosts.host());
    }
    return LanguageDrivers.all(hosts.host()).stream()
        .filter(driver -> driver.name().equals(name))
        .findFirst()
        .orElseGet(() -> TestTools.driver(name));
  }

  @Test
  void thereIsOneInEachLanguage() throws IOException {
    String table = Files.readString(EXAMPLES.resolve("README.md"));
    TreeMap<String, String> languages = new TreeMap<>();
    for (String example : examples()) {
      ToolSource source = ToolProject.open(EXAMPLES.resolve(example)).source();
      assertThat(source.tool()).isEqualTo(example);
      assertThat(table).contains("| [`" + example + "`](" + example + ") | " + source.language());
      languages.put(source.language().text(), example);
    }
    // An assembly cannot be built here: TheDotNetTemplateRunsWhereARuntimeIsTest has its sample.
    assertThat(languages.keySet())
        .containsExactlyElementsOf(
            Language.ALL.stream()
                .filter(language -> !language.equals(Language.DOTNET))
                .map(Language::text)
                .toList());
  }

  @ParameterizedTest
  @MethodSource("examples")
  void itPasses(String example) {
    Path folder = EXAMPLES.resolve(example);
    ToolProject project = ToolProject.open(folder);
    assertThat(lint.check(project)).isEmpty();
    assertThat(ToolArchive.of(project).toBytes())
        .isEqualTo(ToolArchive.of(ToolProject.open(folder)).toBytes());
    var tests =
        PackageDirectory.files(folder, path -> path.startsWith(ToolProject.TESTS), 16L << 20);
    assertThat(tests).hasSizeGreaterThan(1);
    assertThat(new ToolTests(project, driver(project.manifest().driver())).run(tests))
        .allSatisfy(verdict -> assertThat(verdict.found()).as(verdict.test()).isEmpty());
    if (!example.equals("function")) { // it does nothing, so its schemas alone refuse
      assertThat(tests.values())
          .as("and one of what it refuses")
          .anyMatch(bytes -> isRefusal(bytes));
    }
  }

  private static boolean isRefusal(byte[] test) {
    return new String(test, StandardCharsets.UTF_8).contains("\"reason\"")
        || new String(test, StandardCharsets.UTF_8).contains("&lt;script&gt;");
  }
}
