package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.fail;

import dev.writ.canonicalize.ErrorCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

class ErrorCatalogueTest {
  /** A word, or one with the number of a code behind it. */
  private static final Pattern WORD = Pattern.compile("(\\w++)(?:-[0-9]{3}\\b)?");

  private final List<ErrorCatalogue.Section> sections = ErrorCatalogue.sections();
  private final List<ErrorCode> codes = sections.stream().flatMap(s -> s.codes().stream()).toList();

  @Test
  void everyModuleThatHasAnErrorEnumIsThere() {
    assertThat(sections)
        .extracting(s -> s.type().getSimpleName())
        .contains("CanonicalizeError", "CliError");
    assertThat(codes).isNotEmpty();
  }

  @Test
  void codesAreUniqueAndWellFormedAndEachEnumHasOnePrefix() {
    assertThat(codes).extracting(ErrorCode::code).doesNotHaveDuplicates();
    assertThat(codes)
        .allSatisfy(c -> assertThat(c.code()).matches("[A-Z]{3}-[0-9]{3}|ERR_[A-Z_]+"));
    for (ErrorCatalogue.Section section : sections) {
      assertThat(section.codes().stream().map(ErrorCode::code).filter(c -> c.contains("-")))
          .extracting(c -> c.substring(0, 3))
          .containsOnly(section.codes().getLast().code().substring(0, 3));
    }
  }

  @Test
  void everyCodeSaysWhatIsWrongAndWhatToDo() {
    assertThat(codes)
        .allSatisfy(c -> {
          assertThat(c.meaning()).as(c.code()).isNotBlank().doesNotEndWith(".");
          assertThat(c.remedy()).as(c.code()).isNotBlank().endsWith(".");
          assertThat(c.meaning() + c.remedy()).as(c.code()).doesNotContain("\n");
        });
  }

  @Test
  void thePageIsWhatTheEnumsSay() throws IOException {
    String wanted = ErrorCatalogue.page(sections);
    Path file = ErrorCatalogue.file();
    if (Boolean.getBoolean("writ.update")) {
      Files.createDirectories(file.getParent());
      Files.writeString(file, wanted);
    }
    String found = Files.exists(file) ? Project.read(file) : "";
    if (!found.equals(wanted)) {
      fail(
          "spec/errors.md is not what the enums say; write it again with -Dwrit.update=true\n"
              + difference(found, wanted));
    }
  }

  /** The lines that only one of them has, or that they have the same lines in another order. */
  private static String difference(String found, String wanted) {
    List<String> page = found.lines().toList();
    List<String> enums = wanted.lines().toList();
    StringBuilder out = new StringBuilder();
    page.stream()
        .filter(l -> !enums.contains(l))
        .forEach(l -> out.append("- ").append(l).append('\n'));
    enums.stream()
        .filter(l -> !page.contains(l))
        .forEach(l -> out.append("+ ").append(l).append('\n'));
    return out.isEmpty() ? "the same lines in another order\n" : out.toString();
  }

  /** Reports the codes that no test and no page names; -Dwrit.strict=true refuses them. */
  @Test
  void codesThatNoTestNamesAreReported() throws IOException {
    Set<String> named = named();
    List<String> unnamed =
        codes.stream()
            .filter(code -> !named.contains(code.code()) && !named.contains(constant(code)))
            .map(code -> code.code() + " " + constant(code))
            .toList();
    Path report = Project.root().resolve("cli/target/untested-codes.txt");
    Files.createDirectories(report.getParent());
    Files.writeString(report, String.join("\n", unnamed) + "\n");
    if (!unnamed.isEmpty()) {
      System.out.println(
          unnamed.size() + " of " + codes.size() + " error codes are named by no test: " + report);
    }
    if (Boolean.getBoolean("writ.strict")) {
      assertThat(unnamed).as("error codes that no test names").isEmpty();
    }
  }

  private static String constant(ErrorCode code) {
    return ((Enum<?>) code).name();
  }

  /** The words of tests, vectors and pages that are a code or an enum's constant. */
  private Set<String> named() {
    Set<String> wanted = new HashSet<>();
    codes.forEach(code -> wanted.addAll(List.of(code.code(), constant(code))));
    Set<String> named = new HashSet<>();
    for (Path file : corpus()) {
      Matcher words = WORD.matcher(Project.read(file));
      while (words.find()) {
        named.add(words.group(1));
        named.add(words.group());
      }
      named.retainAll(wanted);
    }
    return named;
  }

  private static List<Path> corpus() {
    Path root = Project.root();
    List<Path> all = new ArrayList<>();
    for (String module : Project.modulesWithSources()) {
      all.addAll(Project.files(root.resolve(module).resolve("src/test/java"), ".java"));
    }
    all.addAll(Project.files(root.resolve("golden-vectors"), ".json"));
    all.addAll(Project.files(root.resolve("spec"), ".md"));
    all.remove(ErrorCatalogue.file());
    return all;
  }
}
