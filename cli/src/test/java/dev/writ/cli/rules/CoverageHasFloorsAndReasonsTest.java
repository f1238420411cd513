package dev.writ.cli.rules;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * {@code config/coverage.txt}, by which {@code ./check} judges the branches that tests take: the
 * floors are the aim, and each class that may keep more than a few has a reason.
 */
class CoverageHasFloorsAndReasonsTest {
  private static final Path ROOT = Project.root();
  private static final List<String> LINES =
      Project.read(ROOT.resolve("config/coverage.txt")).lines().toList();
  private static final Pattern FLOOR = Pattern.compile("floor ([a-z]+) ([0-9]+)");
  private static final Pattern CLASS =
      Pattern.compile("class ([a-z]+) ((?:[a-z]+\\.)*[A-Z]\\w*) ([0-9]+) +(\\w.*)");

  private static List<MatchResult> all(Pattern form) {
    return LINES.stream().flatMap(line -> form.matcher(line).results()).toList();
  }

  @Test
  void the_floors_are_the_aim() {
    TreeMap<String, Integer> floors = new TreeMap<>();
    all(FLOOR).forEach(line -> floors.put(line.group(1), Integer.valueOf(line.group(2))));
    assertThat(floors).containsOnlyKeys("canonicalize", "executor", "guardian", "replay", "verify");
    floors.forEach((module, floor) ->
        assertThat(floor)
            .as(module)
            .isGreaterThanOrEqualTo(module.equals("canonicalize") ? 95 : 90));
  }

  @Test
  void each_class_exists_once_and_has_a_reason() {
    TreeSet<String> seen = new TreeSet<>();
    for (MatchResult line : all(CLASS)) {
      String module = line.group(1);
      Path source =
          ROOT.resolve(module)
              .resolve("src/main/java/dev/writ")
              .resolve(module)
              .resolve(line.group(2).replace('.', '/') + ".java");
      assertThat(Files.exists(source)).as(line.group()).isTrue();
      assertThat(seen.add(module + " " + line.group(2))).as(line.group()).isTrue();
      assertThat(line.group(4).split(" ")).as(line.group()).hasSizeGreaterThan(3);
    }
    assertThat(all(FLOOR).size() + all(CLASS).size())
        .as("every line is one of them")
        .isEqualTo((int) LINES.stream().filter(l -> !l.startsWith("#") && !l.isBlank()).count());
  }
}
