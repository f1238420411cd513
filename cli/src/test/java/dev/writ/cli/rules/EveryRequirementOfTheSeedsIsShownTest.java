package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code spec/seeds.md}: each row has a rule, and a test or a departure, and all of them exist. */
class EveryRequirementOfTheSeedsIsShownTest {
  private static final Path ROOT = Project.root();
  private static final Pattern ROW = Pattern.compile("\\| (\\d{3})-(\\d{2,}) \\|.*");
  private static final Pattern PLACE =
      Pattern.compile("\\[([a-z0-9-]+\\.md)]\\(\\1\\),(?: \\*([^*]+)\\*)?(?: (\\d+))?");
  private static final Pattern PROOF = Pattern.compile("`(\\w+)#(\\w+)`");
  private static final Pattern TEST =
      Pattern.compile(
          "(?s)@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|FuzzTest)\\b"
              + ".*?\\s(?:void|Stream<DynamicTest>)\\s+(\\w+)\\s*\\(");

  /** The sources of tests by the simple name of their class, which is used once in the tree. */
  private static final TreeMap<String, Path> TESTS = tests();

  private static TreeMap<String, Path> tests() {
    TreeMap<String, Path> tests = new TreeMap<>();
    try (Stream<Path> modules = Files.list(ROOT)) {
      for (Path module : modules.toList()) {
        for (Path file : Project.files(module.resolve("src/test/java"), ".java")) {
          tests.put(file.getFileName().toString().replace(".java", ""), file);
        }
      }
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
    return tests;
  }

  private static List<String> rows() {
    return Project.read(ROOT.resolve("spec/seeds.md"))
        .lines()
        .filter(line -> ROW.matcher(line).matches())
        .toList();
  }

  /** What is wrong with a row: nothing, or the first thing. */
  private static Optional<String> problem(String row) {
    String[] cells = row.substring(2, row.length() - 2).split(" \\| ", -1);
    if (cells.length != 4) {
      return Optional.of("not four cells");
    }
    if (cells[1].isBlank()) {
      return Optional.of("no requirement");
    }
    return Stream.of(places(cells[2]), proofs(cells[3])).flatMap(List::stream).findFirst();
  }

  private static List<String> places(String cell) {
    List<String> problems = new ArrayList<>();
    for (String place : cell.split("; ", -1)) {
      Matcher matcher = PLACE.matcher(place);
      if (matcher.matches() && (matcher.group(2) != null || matcher.group(3) != null)) {
        unresolved(matcher.toMatchResult()).ifPresent(problems::add);
      } else {
        problems.add("no page and rule: " + place);
      }
    }
    return problems;
  }

  private static Optional<String> unresolved(MatchResult place) {
    Path page = ROOT.resolve("spec").resolve(place.group(1));
    if (!Files.exists(page)) {
      return Optional.of("no page " + place.group(1));
    }
    String text = Project.read(page);
    if (place.group(2) != null) {
      Matcher heading =
          Pattern.compile(
                  "(?ms)^(?:#+ \\Q%1$s\\E$|\\*\\*\\Q%1$s\\E\\.?\\*\\*)(.*?)(?=^#|\\z)"
                      .formatted(place.group(2)))
              .matcher(text);
      if (!heading.find()) {
        return Optional.of(place.group(1) + " has no heading " + place.group(2));
      }
      text = heading.group(1);
    }
    if (place.group(3) == null) {
      return Optional.empty();
    }
    long rules = Pattern.compile("(?m)^" + place.group(3) + "\\. ").matcher(text).results().count();
    return rules == 1
        ? Optional.empty()
        : Optional.of(place.group() + " names " + rules + " rules, and not one");
  }

  private static List<String> proofs(String cell) {
    if (cell.equals("departure")) {
      return List.of();
    }
    List<String> problems = new ArrayList<>();
    for (String proof : cell.split(", ", -1)) {
      Matcher matcher = PROOF.matcher(proof);
      if (!matcher.matches()) {
        problems.add("neither a test nor a departure: " + proof);
      } else if (!TESTS.containsKey(matcher.group(1))) {
        problems.add("no test class " + matcher.group(1));
      } else if (!methods(TESTS.get(matcher.group(1))).contains(matcher.group(2))) {
        problems.add(proof + " is no test method");
      }
    }
    return problems;
  }

  private static TreeSet<String> methods(Path test) {
    return TEST.matcher(Project.read(test))
        .results()
        .map(found -> found.group(1))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void eachRowNamesARuleAndATestOrADeparture() {
    TreeMap<String, String> problems = new TreeMap<>();
    rows().forEach(row -> problem(row).ifPresent(found -> problems.put(row, found)));
    assertThat(problems).isEmpty();
  }

  /** So an id is used once, and a row that was taken out is seen. */
  @Test
  void theIdsOfEachSeedCountFromOne() {
    TreeMap<String, List<Integer>> ids = new TreeMap<>();
    for (String row : rows()) {
      Matcher matcher = ROW.matcher(row);
      assertThat(matcher.matches()).isTrue();
      ids.computeIfAbsent(matcher.group(1), _ -> new ArrayList<>())
          .add(Integer.valueOf(matcher.group(2)));
    }
    assertThat(ids.keySet()).containsExactly("000", "001", "002", "003", "004");
    ids.forEach((seed, numbers) ->
        assertThat(numbers)
            .as(seed)
            .isEqualTo(Stream.iterate(1, n -> n + 1).limit(numbers.size()).toList()));
  }

  private static final String PLACED = "[receipt.md](receipt.md), 3";
  private static final String SHOWN = "`ReferencesResolveTest#everyPageThatIsCitedIsThere`";

  @Test
  void aRowMayPointAtARuleAHeadingOrARuleUnderOne() {
    for (String place :
        List.of(
            PLACED,
            "[receipt.md](receipt.md), *Fields*",
            "[receipt.md](receipt.md), *Rules* 3",
            "[surface-tools.md](surface-tools.md), *Images*",
            PLACED + "; [intent.md](intent.md), 4")) {
      assertThat(problem("| 000-01 | words | " + place + " | " + SHOWN + " |")).as(place).isEmpty();
      assertThat(problem("| 000-01 | words | " + place + " | departure |")).as(place).isEmpty();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "' ', P, S, no requirement",
    "words, '', S, no page and rule",
    "words, '[receipt.md](receipt.md)', S, no page and rule",
    "words, '[gone.md](gone.md), 1', S, no page gone.md",
    "words, '[receipt.md](receipt.md), 99', S, names 0 rules",
    "words, '[sandbox.md](sandbox.md), 1', S, and not one",
    "words, '[receipt.md](receipt.md), *Gone*', S, has no heading Gone",
    "words, '[receipt.md](receipt.md), *Fields* 1', S, names 0 rules",
    "words, P, '', neither a test nor a departure",
    "words, P, soon, neither a test nor a departure",
    "words, P, `GoneTest#gone`, no test class GoneTest",
    "words, P, `ReferencesResolveTest#rules`, is no test method",
    "words, P, `ReferencesResolveTest#gone`, is no test method",
    "words, P, S | S, not four cells"
  })
  void whatIsMissingIsFound(String requirement, String place, String proof, String problem) {
    String row = "| 000-01 | %s | %s | %s |".formatted(requirement, place, proof);
    assertThat(problem(row.replace(" P ", " " + PLACED + " ").replace(" S ", " " + SHOWN + " ")))
        .hasValueSatisfying(found -> assertThat(found).contains(problem));
  }
}
