package dev.writ.conform.mutant;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.conform.run.ConformanceReport.Result;
import dev.writ.conform.run.ConformanceReport.Verdict;
import dev.writ.conform.run.Runner;
import dev.writ.conform.run.Vector;
import dev.writ.conform.run.Vectors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * The suite is able to fail: each deliberately broken implementation is caught by a vector. One
 * that survives fails this test.
 */
class TheSuiteCatchesEveryMutantTest {
  private static final Vectors VECTORS = Vectors.load(Golden.ROOT);

  /** What catches it, where something does. */
  private record Caught(Mutant mutant, Optional<Result> by) {}

  @Test
  void everyMutantIsCaught() throws IOException {
    List<Mutant> mutants = Mutants.all();
    assertThat(mutants).extracting(Mutant::name).doesNotHaveDuplicates();
    assertThat(mutants).hasSizeGreaterThanOrEqualTo(40);
    List<Caught> all = new ArrayList<>();
    for (Mutant mutant : mutants) {
      all.add(new Caught(mutant, catcher(mutant)));
    }
    print(all);
    assertThat(all.stream().filter(c -> c.by().isEmpty()).map(c -> c.mutant().name()))
        .as("mutants that survive")
        .isEmpty();
  }

  /** The first vector, those of the operation whose refusals it concerns first. */
  private static Optional<Result> catcher(Mutant mutant) {
    return vectors(mutant)
        .map(vector -> Runner.run(vector, mutant))
        .filter(result -> result.verdict() == Verdict.FAILED)
        .findFirst();
  }

  private static Stream<Vector> vectors(Mutant mutant) {
    return VECTORS.all().stream()
        .filter(v -> mutant.suites().contains(v.suite()) && v.op().equals(mutant.op()))
        .sorted(Comparator.comparing(v -> !likely(mutant, v)));
  }

  /** Scenarios take a while, so those that may tell this mutant come first. */
  private static boolean likely(Mutant mutant, Vector vector) {
    String expect = vector.expect().toString();
    return mutant.hints().stream().anyMatch(expect::contains);
  }

  /** The true implementation passes what catches the mutants: they are caught for what they are. */
  @Test
  void theTableNamesEveryOperation() {
    TreeMap<String, Integer> byOp = new TreeMap<>();
    Mutants.all().forEach(m -> byOp.merge(m.op(), 1, Integer::sum));
    assertThat(byOp)
        .containsKeys(
            "canonicalize",
            "digest",
            "ed25519.verify",
            "key.enrol",
            "dsse.verify",
            "trust.verify",
            "merkle.inclusion",
            "merkle.consistency",
            "checkpoint.verify",
            "guardian.judge",
            "executor.gate",
            "executor.run",
            "receipt.chain");
  }

  /** For people, and for check to show. */
  private static void print(List<Caught> all) throws IOException {
    StringBuilder table = new StringBuilder();
    for (Caught caught : all) {
      table.append(
          String.format(
              Locale.ROOT,
              "%-72s %s%n",
              caught.mutant().name(),
              caught.by().map(r -> r.vector().name()).orElse("SURVIVES")));
    }
    long caught = all.stream().filter(c -> c.by().isPresent()).count();
    table.append(caught).append(" of ").append(all.size()).append(" mutants caught\n");
    System.out.print(table);
    Path file = Golden.ROOT.resolveSibling("conform/target/mutants.txt");
    Files.createDirectories(file.getParent());
    Files.writeString(file, table);
  }
}
