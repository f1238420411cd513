package dev.writ.conform.mutant;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.conform.run.Report.Verdict;
import dev.writ.conform.run.Runner;
import dev.writ.conform.run.Vector;
import dev.writ.conform.run.Vectors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Both verifiers' code on trust, revocation, windows, algorithms and governance, with every
 * condition of it broken in turn ({@code areas.txt} lists the functions): a vector catches each, or
 * {@code equivalent.txt} says why none can, or {@code open.txt} lists it as one that is owed a
 * vector. {@code caught.txt} only says which vector to try first.
 *
 * <p>{@code -Dwrit.mutants=all} tries every vector on every mutant; {@code -Dwrit.update=true}
 * writes {@code caught.txt} anew.
 */
class TheVectorsCatchEveryMutantOfTheVerifiersTest {
  private static final Set<String> SUITES = Set.of("bundle", "trust", "adversarial");
  private static final Set<String> OPERATIONS = Set.of("bundle.verify", "trust.verify");
  private static final String SCRIPT = "replay/src/main/resources/dev/writ/replay/verify.mjs";
  private static final Path CAUGHT =
      Golden.ROOT.resolveSibling("conform/src/test/resources/dev/writ/conform/mutant/caught.txt");

  private static final boolean UPDATE = Boolean.getBoolean("writ.update");
  private static final boolean ALL = "all".equals(System.getProperty("writ.mutants"));

  /** The vectors about these areas; the others take their time and catch nothing more. */
  private static final Pattern ABOUT =
      Pattern.compile("/(governed|governance|window|clock)-|/pins-(begins|ends)|^trust/");

  private static final List<Vector> VECTORS =
      Vectors.load(Golden.ROOT).all().stream()
          .filter(v -> SUITES.contains(v.suite()) && OPERATIONS.contains(v.op()))
          .filter(v -> ALL || ABOUT.matcher(v.name()).find())
          .toList();

  private final TreeMap<String, String> caughtBy = new TreeMap<>();
  private final TreeMap<String, BitSet> reached = new TreeMap<>();
  private final List<String> survivors = new ArrayList<>();
  private final Set<String> found = new LinkedHashSet<>();
  private final LinkedHashSet<Vector> killers = new LinkedHashSet<>();

  private static SortedMap<String, String> pairs(String resource) throws IOException {
    TreeMap<String, String> pairs = new TreeMap<>();
    try (InputStream in =
        TheVectorsCatchEveryMutantOfTheVerifiersTest.class.getResourceAsStream(resource)) {
      for (String line : new String(in.readAllBytes(), UTF_8).split("\n")) {
        int tab = line.indexOf('\t');
        if (tab > 0) {
          pairs.put(line.substring(0, tab), line.substring(tab + 1));
        }
      }
    }
    return pairs;
  }

  private static SortedMap<String, List<String>> areas() throws IOException {
    TreeMap<String, List<String>> areas = new TreeMap<>();
    try (InputStream in =
        TheVectorsCatchEveryMutantOfTheVerifiersTest.class.getResourceAsStream("areas.txt")) {
      for (String line : new String(in.readAllBytes(), UTF_8).split("\n")) {
        if (!line.isEmpty() && !line.startsWith("#")) {
          String[] parts = line.split(": ");
          areas
              .computeIfAbsent(parts[0], _ -> new ArrayList<>())
              .addAll(List.of(parts[1].split(" ")));
        }
      }
    }
    return areas;
  }

  @Test
  void everyMutantIsCaughtOrSaysTheSame(@TempDir Path folder) throws IOException {
    SortedMap<String, String> equivalent = pairs("equivalent.txt");
    SortedMap<String, String> open = pairs("open.txt");
    SortedMap<String, String> before = pairs("caught.txt");
    SortedMap<String, List<String>> areas = areas();
    List<String> script = areas.remove(SCRIPT);
    int mutants = 0;
    try (MutatedCode first = new MutatedJava(areas);
        MutatedCode second = new MutatedScript(folder, script)) {
      for (MutatedCode code : List.of(first, second)) {
        hold(code, before, equivalent);
        mutants += code.mutants().size();
      }
    }
    assertThat(open.keySet()).as("open, and caught").noneMatch(caughtBy::containsKey);
    assertThat(survivors).as("open, and no mutant").containsAll(open.keySet());
    survivors.removeAll(open.keySet());
    report(mutants, equivalent.size(), open.size());
    if (UPDATE) {
      StringBuilder text = new StringBuilder();
      caughtBy.forEach((key, vector) -> text.append(key).append('\t').append(vector).append('\n'));
      Files.writeString(CAUGHT, text);
    }
    assertThat(survivors).as("mutants that no vector catches").isEmpty();
    assertThat(equivalent.keySet()).as("said to be equivalent, and no mutant").isSubsetOf(found);
    assertThat(equivalent.keySet())
        .as("equivalent, and caught")
        .doesNotContainAnyElementsOf(caughtBy.keySet());
  }

  private void hold(
      MutatedCode code, SortedMap<String, String> before, SortedMap<String, String> equivalent) {
    code.turn(0);
    for (Vector vector : VECTORS) {
      assertThat(Runner.run(vector, code).detail()).as(vector.name()).isEmpty();
      reached.put(vector.name(), code.reached());
    }
    for (JavaMutator.Change mutant : code.mutants()) {
      assertThat(found.add(mutant.key())).as("one key: " + mutant.key()).isTrue();
      code.turn(mutant.id());
      if (equivalent.containsKey(mutant.key()) && !ALL) {
        continue;
      }
      Optional<Vector> by = catcher(code, mutant, Optional.ofNullable(before.get(mutant.key())));
      by.ifPresent(vector -> {
        killers.add(vector);
        caughtBy.put(mutant.key(), vector.name());
      });
      if (by.isEmpty() && !equivalent.containsKey(mutant.key())) {
        survivors.add(mutant.key());
      }
    }
    code.turn(0);
  }

  /** What does not come by a mutant cannot catch it. */
  private Optional<Vector> catcher(
      MutatedCode code, JavaMutator.Change mutant, Optional<String> hint) {
    List<Vector> hinted =
        VECTORS.stream().filter(v -> hint.filter(v.name()::equals).isPresent()).toList();
    return Stream.of(hinted, List.copyOf(killers), VECTORS)
        .flatMap(List::stream)
        .distinct()
        .filter(vector -> reached.get(vector.name()).get(mutant.id()))
        .filter(vector -> catches(vector, code))
        .findFirst();
  }

  private static boolean catches(Vector vector, MutatedCode code) {
    return Runner.run(vector, code).verdict() == Verdict.FAILED;
  }

  /** For people, and for check to show. */
  private void report(int mutants, int equivalent, int open) throws IOException {
    StringBuilder text = new StringBuilder();
    survivors.forEach(key -> text.append("SURVIVES ").append(key).append('\n'));
    text.append(caughtBy.size())
        .append(" of ")
        .append(mutants - equivalent)
        .append(" mutants of the verifiers' code caught, ")
        .append(equivalent)
        .append(" say the same, ")
        .append(open)
        .append(" open\n");
    System.out.print(text);
    Path file = Golden.ROOT.resolveSibling("conform/target/verifier-mutants.txt");
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
