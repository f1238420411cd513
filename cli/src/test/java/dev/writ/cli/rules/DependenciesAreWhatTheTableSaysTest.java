package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** {@code config/dependencies.md} lists the class paths of the launcher and of all tests. */
class DependenciesAreWhatTheTableSaysTest {
  private static final List<String> OF_ALL =
      List.of("Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "EPL-2.0", "MIT", "MIT-0");
  private static final List<String> OF_TESTS =
      List.of("GPL-2.0-with-classpath-exception", "MPL-2.0");
  private static final Pattern SECTION = Pattern.compile("\\[[^]]+]\\(#([a-z-]+)\\)");

  /** A library as the table has it. */
  private record Row(
      String name, String version, String scope, String licence, String why, String advisories) {}

  /** A jar on a class path; its place in the local repository says what it is. */
  private record Jar(String name, String version, Path file) {
    static Jar of(Path file) {
      String version = file.getParent().getFileName().toString();
      Path artifact = file.getParent().getParent();
      Path repository = artifact;
      while (!repository.getFileName().toString().equals("repository")) {
        repository = repository.getParent();
      }
      String group = repository.relativize(artifact.getParent()).toString().replace('/', '.');
      String stem = artifact.getFileName() + "-" + version;
      String rest = file.getFileName().toString().substring(stem.length());
      String classifier = rest.substring(0, rest.length() - ".jar".length()).replaceFirst("-", ":");
      return new Jar(group + ":" + artifact.getFileName() + classifier, version, file);
    }
  }

  private static final Path CONFIG = Project.root().resolve("config");

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static List<Row> table() {
    return read(CONFIG.resolve("dependencies.md"))
        .lines()
        .filter(line -> line.startsWith("| `"))
        .map(line -> Arrays.stream(line.split("\\|")).map(String::strip).toList())
        .map(cells ->
            new Row(
                cells.get(1).replace("`", ""),
                cells.get(2),
                cells.get(3),
                cells.get(4),
                cells.get(5),
                cells.get(6)))
        .toList();
  }

  /** The jars of a class path that Maven wrote, without the modules of this project. */
  private static Stream<Jar> jars(Path classPath) {
    return Arrays.stream(read(classPath).strip().split(":"))
        .filter(entry -> entry.endsWith(".jar") && !entry.contains("/target/"))
        .map(entry -> Jar.of(Path.of(entry)));
  }

  /** What the build resolved, by name; {@code run} where the launcher has it. */
  private static TreeMap<String, String> resolved(TreeMap<String, Jar> jars) throws IOException {
    TreeMap<String, String> found = new TreeMap<>();
    Matcher modules =
        Pattern.compile("<module>([a-z0-9]+)</module>")
            .matcher(read(Project.root().resolve("pom.xml")));
    while (modules.find()) {
      Path tests = Project.root().resolve(modules.group(1)).resolve("target/test-classpath");
      jars(tests).forEach(jar -> put(found, jars, jar, "test"));
    }
    jars(Project.root().resolve("cli/target/classpath"))
        .forEach(jar -> put(found, jars, jar, "run"));
    return found;
  }

  private static void put(
      TreeMap<String, String> found, TreeMap<String, Jar> jars, Jar jar, String scope) {
    found.put(jar.name(), jar.version() + " " + scope);
    jars.put(jar.name(), jar);
  }

  @Test
  void theClassPathsAreTheTable() throws IOException {
    TreeMap<String, String> stated = new TreeMap<>();
    for (Row row : table()) {
      assertThat(stated.put(row.name(), row.version() + " " + row.scope())).as(row.name()).isNull();
    }
    assertThat(resolved(new TreeMap<>())).isEqualTo(stated);
  }

  /** What is on the class path is what was looked at, byte for byte. */
  @Test
  void eachJarHasItsChecksum() throws IOException {
    TreeMap<String, Jar> jars = new TreeMap<>();
    resolved(jars);
    TreeMap<String, String> found = new TreeMap<>();
    for (Jar jar : jars.values()) {
      String hex = Digest.sha256(Files.readAllBytes(jar.file())).hex();
      found.put(jar.name() + ":" + jar.version(), hex);
    }
    TreeMap<String, String> stated = new TreeMap<>();
    read(CONFIG.resolve("dependencies.sha256"))
        .lines()
        .map(line -> line.split(" {2}", 2))
        .forEach(parts -> stated.put(parts[1], parts[0]));
    assertThat(found).isEqualTo(stated);
  }

  @Test
  void eachRowSaysAllThatItHasTo() {
    String text = read(CONFIG.resolve("dependencies.md"));
    for (Row row : table()) {
      assertThat(row.licence())
          .as(row.name())
          .satisfies(licence ->
              assertThat(
                      OF_ALL.contains(licence)
                          || (row.scope().equals("test") && OF_TESTS.contains(licence)))
                  .isTrue());
      assertThat(row.why()).as(row.name()).isNotEmpty();
      Matcher section = SECTION.matcher(row.advisories());
      if (section.matches()) {
        assertThat(text.lines().map(DependenciesAreWhatTheTableSaysTest::anchor))
            .as(row.name())
            .contains(Optional.of(section.group(1)));
      } else {
        assertThat(row.advisories())
            .as(row.name())
            .isIn("none found", "not looked up: no data offline");
      }
    }
  }

  private static Optional<String> anchor(String line) {
    return line.startsWith("### ")
        ? Optional.of(line.substring(4).toLowerCase(Locale.ROOT).replace(".", "").replace(' ', '-'))
        : Optional.empty();
  }

  @Test
  void theListHasADate() {
    Matcher date =
        Pattern.compile("(?m)^Looked at: ([0-9]{4}-[0-9]{2}-[0-9]{2})$")
            .matcher(read(CONFIG.resolve("dependencies.md")));
    assertThat(date.find()).isTrue();
    assertThat(LocalDate.parse(date.group(1))).isAfterOrEqualTo(LocalDate.of(2026, 11, 22));
  }

  /** One version each, the same tomorrow: in every pom, for libraries and plugins. */
  @Test
  void noVersionIsARangeOrASnapshot() throws IOException {
    try (Stream<Path> poms = Files.list(Project.root())) {
      List<Path> all =
          Stream.concat(
                  Stream.of(Project.root().resolve("pom.xml")),
                  poms.map(module -> module.resolve("pom.xml")).filter(Files::exists))
              .toList();
      for (Path pom : all) {
        String text = read(pom).replaceAll("(?s)<configuration>.*?</configuration>", "");
        Matcher version = Pattern.compile("<([a-z.-]*version)>([^<]+)<").matcher(text);
        while (version.find()) {
          assertThat(version.group(2))
              .as(pom + " " + version.group(1))
              .isNotIn("LATEST", "RELEASE") // Maven's words for whatever is newest
              .doesNotContain("SNAPSHOT")
              .doesNotContainPattern("[\\[(,]");
        }
      }
    }
  }
}
