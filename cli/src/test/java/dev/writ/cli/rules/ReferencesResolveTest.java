package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What code and pages cite is there: rules of the protocol, pages of the specification, files. */
class ReferencesResolveTest {
  private static final Pattern RULES =
      Pattern.compile("protocol rules? ((?:\\d+)(?:(?:, | and )\\d+)*)");
  private static final Pattern LINKED_RULE =
      Pattern.compile("\\[rule (\\d+)]\\([^)]*protocol\\.md");
  private static final Pattern PAGE = Pattern.compile("\\bspec/([a-z0-9-]+\\.md)\\b");
  private static final Pattern LINK = Pattern.compile("]\\(([^)#: ]+)(?:#[^)]*)?\\)");
  private static final Set<String> TEXTS = Set.of("java", "md", "mjs", "txt", "xml", "sh", "yaml");

  private static final Path ROOT = Project.root();

  private static List<Path> texts() throws IOException {
    try (Stream<Path> all = Files.walk(ROOT)) {
      return all.filter(Files::isRegularFile)
          .filter(file -> {
            String path = ROOT.relativize(file).toString();
            return !path.matches("(.*/)?(target|node_modules|\\.git)/.*")
                && !path.startsWith("golden-vectors/")
                && TEXTS.contains(path.replaceFirst(".*[./]", ""));
          })
          .toList();
    }
  }

  /** The numbers in {@code protocol.md}. */
  private static Set<Integer> rules() {
    return Pattern.compile("(?m)^(\\d+)\\. ")
        .matcher(Project.read(ROOT.resolve("spec/protocol.md")))
        .results()
        .map(m -> Integer.valueOf(m.group(1)))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static List<Integer> cited(String text) {
    String joined = text.replaceAll("\\s*\\n\\s*(?:\\*|//|#)?\\s*", " ");
    List<Integer> numbers = new ArrayList<>();
    for (Pattern pattern : List.of(RULES, LINKED_RULE)) {
      Matcher matcher = pattern.matcher(joined);
      while (matcher.find()) {
        for (String number : matcher.group(1).split("\\D+")) {
          numbers.add(Integer.valueOf(number));
        }
      }
    }
    return numbers;
  }

  @Test
  void everyRuleOfTheProtocolThatIsCitedIsThere() throws IOException {
    Set<Integer> rules = rules();
    assertThat(rules).hasSize(34);
    int found = 0;
    for (Path file : texts()) {
      List<Integer> cited = cited(Files.readString(file));
      assertThat(rules).as(file.toString()).containsAll(cited);
      found += cited.size();
    }
    assertThat(found).isGreaterThan(100);
  }

  @Test
  void everyPageThatIsCitedIsThere() throws IOException {
    int found = 0;
    for (Path file : texts()) {
      Matcher pages = PAGE.matcher(Files.readString(file));
      while (pages.find()) {
        assertThat(ROOT.resolve("spec").resolve(pages.group(1))).as(file.toString()).exists();
        found++;
      }
    }
    assertThat(found).isGreaterThan(100);
  }

  @Test
  void everyLinkOfAPageLeadsToAFile() throws IOException {
    int found = 0;
    for (Path file : texts()) {
      if (file.toString().endsWith(".md")) {
        Matcher links = LINK.matcher(Files.readString(file).replaceAll("(?s)```.*?```", ""));
        while (links.find()) {
          assertThat(file.resolveSibling(links.group(1)))
              .as(links.group() + " in " + file)
              .exists();
          found++;
        }
      }
    }
    assertThat(found).isGreaterThan(100);
  }

  @Test
  void noCodeCitesWhatIsNotInTheRepository() throws IOException {
    for (Path file : texts()) {
      assertThat(Files.readString(file))
          .as(file.toString())
          .doesNotContainPattern("\\b(PROTOCOL|DESIGN) \\d");
    }
  }

  @Test
  void aCitationIsFoundOverTheEndOfALine() {
    assertThat(cited(" * words (protocol rules 3, 4\n *   and 20).")).containsExactly(3, 4, 20);
    assertThat(cited("see [rule 7](protocol.md)")).containsExactly(7);
  }
}
