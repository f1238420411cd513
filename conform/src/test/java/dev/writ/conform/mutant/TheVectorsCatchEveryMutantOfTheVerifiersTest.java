package dev.writ.conform.mutant;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.conform.run.ConformanceReport.Result;
import dev.writ.conform.run.ConformanceReport.Verdict;
import dev.writ.conform.run.Runner;
import dev.writ.conform.run.Vector;
import dev.writ.conform.run.Vectors;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
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
 * vector. {@code caught.txt} names the vector to ask first: where that catches the mutant no other
 * is asked, where it does not all are, and the line is reported as out of date. That each vector
 * gets its answer without a mutant is for the tests of both implementations; here a few are asked.
 *
 * <p>{@code -Dwrit.mutants=all} asks every vector without a mutant, and tries those that are said
 * to be equivalent or are open; {@code -Dwrit.update=true} writes {@code caught.txt} anew, with
 * both the quickest vector for each.
 */
class TheVectorsCatchEveryMutantOfTheVerifiersTest {
  private static final Set<String> SUITES =
      Set.of(
          "bundle", "trust", "adversarial", "runs", "recorded", "es256", "webauthn", "checkpoint");
  private static final Set<String> OPERATIONS =
      Set.of("bundle.verify", "bundle.stamped", "trust.verify", "cosignature.verify");
  private static final String SCRIPT =
      "verify/src/main/resources/dev/writ/verify/bundle/verify.mjs";
  private static final Path CAUGHT =
      Golden.ROOT.resolveSibling("conform/src/test/resources/dev/writ/conform/mutant/caught.txt");

  /** Of so many vectors that are named, one is asked without a mutant, too. */
  private static final int SOUND_EVERY = 20;

  private static final boolean UPDATE = Boolean.getBoolean("writ.update");
  private static final boolean ALL = "all".equals(System.getProperty("writ.mutants"));

  private static final List<Vector> VECTORS =
      Vectors.load(Golden.ROOT).all().stream()
          .filter(v -> SUITES.contains(v.suite()))
          .filter(v -> OPERATIONS.contains(v.op()) || isRefusedReplay(v))
          .toList();

  /**
   * One that shows what is found by judging again alone: a bundle that verifies, and is refused.
   */
  private static boolean isRefusedReplay(Vector vector) {
    return vector.op().equals("bundle.replay") && vector.expect().get("code") != null;
  }

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
    Set<String> excused = new LinkedHashSet<>(equivalent.keySet());
    excused.addAll(open.keySet());
    Hunt all;
    try (MutatedCode second = new MutatedScript(folder, script)) {
      all = new Hunt(second, before, excused);
      CompletableFuture<Hunt> beside =
          CompletableFuture.supplyAsync(() -> java(areas, before, excused));
      all.run();
      all.add(beside.join());
    }
    report(all, equivalent.size(), open.size());
    if (UPDATE) {
      StringBuilder text = new StringBuilder();
      all.caughtBy.forEach(
          (key, vector) -> text.append(key).append('\t').append(vector).append('\n'));
      Files.writeString(CAUGHT, text);
    }
    assertThat(all.survivors).as("mutants that no vector catches").isEmpty();
    assertThat(open.keySet()).as("open, and no mutant").isSubsetOf(all.found);
    assertThat(open.keySet()).as("open, and caught").noneMatch(all.caughtBy::containsKey);
    assertThat(equivalent.keySet()).as("equivalent, and no mutant").isSubsetOf(all.found);
    assertThat(equivalent.keySet())
        .as("equivalent, and caught")
        .noneMatch(all.caughtBy::containsKey)
        .noneMatch(open::containsKey);
  }

  private static Hunt java(
      SortedMap<String, List<String>> areas,
      SortedMap<String, String> before,
      Set<String> excused) {
    try (MutatedCode first = new MutatedJava(areas)) {
      Hunt java = new Hunt(first, before, excused);
      java.run();
      return java;
    }
  }

  /** One verifier's mutants, one after the other. */
  private static final class Hunt {
    private final MutatedCode code;
    private final SortedMap<String, String> before;
    private final Set<String> excused;
    private final TreeMap<String, BitSet> reached = new TreeMap<>();
    private final TreeMap<String, Long> micros = new TreeMap<>();
    private final LinkedHashSet<Vector> killers = new LinkedHashSet<>();
    private final Set<String> asNamed = new LinkedHashSet<>();
    final TreeMap<String, String> caughtBy = new TreeMap<>();
    final List<String> survivors = new ArrayList<>();
    final List<String> outOfDate = new ArrayList<>();
    final Set<String> found = new LinkedHashSet<>();

    /**
     * @param before which vector caught it last time, by its key
     * @param excused keys of those that no vector need catch
     */
    Hunt(MutatedCode code, SortedMap<String, String> before, Set<String> excused) {
      this.code = code;
      this.before = before;
      this.excused = excused;
    }

    void add(Hunt other) {
      caughtBy.putAll(other.caughtBy);
      survivors.addAll(other.survivors);
      outOfDate.addAll(other.outOfDate);
      found.addAll(other.found);
    }

    void run() {
      if (ALL) {
        VECTORS.forEach(this::reached);
      }
      for (JavaMutator.Change mutant : byVector()) {
        assertThat(found.add(mutant.key())).as("one key: " + mutant.key()).isTrue();
        if (ALL || !excused.contains(mutant.key())) {
          hunt(mutant);
        }
      }
    }

    /** Those of one vector together, so that it need not be sent again. */
    private List<JavaMutator.Change> byVector() {
      return code.mutants().stream()
          .sorted(Comparator.comparing(mutant -> before.getOrDefault(mutant.key(), "")))
          .toList();
    }

    private void hunt(JavaMutator.Change mutant) {
      Optional<String> named = Optional.ofNullable(before.get(mutant.key()));
      Optional<Vector> by =
          candidates(named)
              .filter(v ->
                  named.filter(v.name()::equals).isPresent()
                      ? catchesAsNamed(v, mutant)
                      : catches(v, mutant))
              .findFirst();
      if (by.isPresent()) {
        killers.remove(by.get());
        killers.add(by.get());
        caughtBy.put(mutant.key(), by.get().name());
      } else if (!excused.contains(mutant.key())) {
        survivors.add(mutant.key());
        System.out.println("SURVIVES " + mutant.key());
      }
      if (!by.map(Vector::name).equals(named)) {
        outOfDate.add(mutant.key());
      }
    }

    private Stream<Vector> candidates(Optional<String> named) {
      if (ALL && UPDATE) {
        return VECTORS.stream().sorted(Comparator.comparing(v -> micros.get(v.name())));
      }
      return Stream.of(
              VECTORS.stream().filter(v -> named.filter(v.name()::equals).isPresent()).toList(),
              List.copyOf(killers).reversed(),
              VECTORS)
          .flatMap(List::stream)
          .distinct();
    }

    /** What does not come by a mutant cannot catch it. */
    private boolean catches(Vector vector, JavaMutator.Change mutant) {
      return reached(vector).get(mutant.id()) && fails(vector, mutant);
    }

    private boolean catchesAsNamed(Vector vector, JavaMutator.Change mutant) {
      if (ALL || asNamed.add(vector.name()) && asNamed.size() % SOUND_EVERY == 1) {
        reached(vector);
      }
      return fails(vector, mutant);
    }

    private boolean fails(Vector vector, JavaMutator.Change mutant) {
      code.turn(mutant.id());
      return Runner.run(vector, code).verdict() == Verdict.FAILED;
    }

    /** The mutants that a vector comes by; without any it gets the answer that it says. */
    private BitSet reached(Vector vector) {
      return reached.computeIfAbsent(
          vector.name(),
          _ -> {
            code.turn(0);
            Result result = Runner.run(vector, code);
            if (result.verdict() == Verdict.UNSUPPORTED) {
              return new BitSet(); // the second verifier does not judge again
            }
            assertThat(result.detail()).as(vector.name()).isEmpty();
            micros.put(vector.name(), result.micros());
            return code.reached();
          });
    }
  }

  /** For people, and for check to show. */
  private static void report(Hunt all, int equivalent, int open) throws IOException {
    StringBuilder text = new StringBuilder();
    text.append(all.caughtBy.size())
        .append(" of ")
        .append(all.found.size() - equivalent)
        .append(" mutants of the verifiers' code caught, ")
        .append(equivalent)
        .append(" say the same, ")
        .append(open)
        .append(" open\n");
    if (!UPDATE && !all.outOfDate.isEmpty()) {
      text.append("caught.txt is out of date for ")
          .append(all.outOfDate.size())
          .append(" mutants, which takes time: write it anew with -Dwrit.update=true\n");
    }
    System.out.print(text);
    Path file = Golden.ROOT.resolveSibling("conform/target/verifier-mutants.txt");
    Files.createDirectories(file.getParent());
    Files.writeString(file, text);
  }
}
