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
import java.util.concurrent.CompletableFuture;
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
  private static final String SCRIPT =
      "verify/src/main/resources/dev/writ/verify/bundle/verify.mjs";
  private static final Path CAUGHT =
      Golden.ROOT.resolveSibling("conform/src/test/resources/dev/writ/conform/mutant/caught.txt");

  private static final boolean UPDATE = Boolean.getBoolean("writ.update");
  private static final boolean ALL = "all".equals(System.getProperty("writ.mutants"));

  private static final List<Vector> VECTORS =
      Vectors.load(Golden.ROOT).all().stream()
          .filter(v -> SUITES.contains(v.suite()) && OPERATIONS.contains(v.op()))
          .toList();

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
    Hunt all;
    try (MutatedCode first = new MutatedJava(areas);
        MutatedCode second = new MutatedScript(folder, script)) {
      Hunt java = new Hunt(first, before, equivalent.keySet());
      all = new Hunt(second, before, equivalent.keySet());
      CompletableFuture<Void> beside = CompletableFuture.runAsync(java::run);
      all.run();
      beside.join();
      all.add(java);
    }
    report(all, equivalent.size(), open.keySet());
    if (UPDATE) {
      StringBuilder text = new StringBuilder();
      all.caughtBy.forEach(
          (key, vector) -> text.append(key).append('\t').append(vector).append('\n'));
      Files.writeString(CAUGHT, text);
    }
    assertThat(open.keySet()).as("open, and caught").noneMatch(all.caughtBy::containsKey);
    assertThat(all.survivors).as("open, and no mutant").containsAll(open.keySet());
    assertThat(all.survivors)
        .as("mutants that no vector catches")
        .containsExactlyInAnyOrderElementsOf(open.keySet());
    assertThat(equivalent.keySet())
        .as("said to be equivalent, and no mutant")
        .isSubsetOf(all.found);
    assertThat(equivalent.keySet())
        .as("equivalent, and caught")
        .doesNotContainAnyElementsOf(all.caughtBy.keySet());
  }

  /** One verifier's mutants, one after the other. */
  private static final class Hunt {
    private final MutatedCode code;
    private final SortedMap<String, String> before;
    private final Set<String> equivalent;
    private final TreeMap<String, BitSet> reached = new TreeMap<>();
    private final LinkedHashSet<Vector> killers = new LinkedHashSet<>();
    final TreeMap<String, String> caughtBy = new TreeMap<>();
    final List<String> survivors = new ArrayList<>();
    final Set<String> found = new LinkedHashSet<>();

    /**
     * @param before which vector caught it last time, by its key
     * @param equivalent keys of those that need not be tried
     */
    Hunt(MutatedCode code, SortedMap<String, String> before, Set<String> equivalent) {
      this.code = code;
      this.before = before;
      this.equivalent = equivalent;
    }

    void add(Hunt other) {
      caughtBy.putAll(other.caughtBy);
      survivors.addAll(other.survivors);
      found.addAll(other.found);
    }

    void run() {
      code.turn(0);
      for (Vector vector : VECTORS) {
        assertThat(Runner.run(vector, code).detail()).as(vector.name()).isEmpty();
        reached.put(vector.name(), code.reached());
      }
      for (JavaMutator.Change mutant : code.mutants()) {
        assertThat(found.add(mutant.key())).as("one key: " + mutant.key()).isTrue();
        if (ALL || !equivalent.contains(mutant.key())) {
          hunt(mutant);
        }
      }
      code.turn(0);
    }

    private void hunt(JavaMutator.Change mutant) {
      code.turn(mutant.id());
      Optional<Vector> by = catcher(mutant, Optional.ofNullable(before.get(mutant.key())));
      by.ifPresent(vector -> {
        killers.add(vector);
        caughtBy.put(mutant.key(), vector.name());
      });
      if (by.isEmpty() && !equivalent.contains(mutant.key())) {
        survivors.add(mutant.key());
      }
    }

    /** What does not come by a mutant cannot catch it. */
    private Optional<Vector> catcher(JavaMutator.Change mutant, Optional<String> hint) {
      List<Vector> hinted =
          VECTORS.stream().filter(v -> hint.filter(v.name()::equals).isPresent()).toList();
      return Stream.of(hinted, List.copyOf(killers).reversed(), VECTORS)
          .flatMap(List::stream)
          .distinct()
          .filter(vector -> reached.get(vector.name()).get(mutant.id()))
          .filter(vector -> Runner.run(vector, code).verdict() == Verdict.FAILED)
          .findFirst();
    }
  }

  /** For people, and for check to show. */
  private static void report(Hunt all, int equivalent, Set<String> open) throws IOException {
    StringBuilder text = new StringBuilder();
    all.survivors.stream()
        .filter(key -> !open.contains(key))
        .forEach(key -> text.append("SURVIVES ").append(key).append('\n'));
    text.append(all.caughtBy.size())
        .append(" of ")
        .append(all.found.size() - equivalent)
        .append(" mutants of the verifiers' code caught, ")
        .append(equivalent)
        .append(" say the same, ")
        .append(open.size())
        .append(" open\n");
    System.out.print(text);
    Path file = Golden.ROOT.resolveSibling("conform/target/verifier-mutants.txt");
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
