package dev.writ.conform.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.crypto.RememberingEngine;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.ConformanceReport.Result;
import dev.writ.conform.run.ConformanceReport.Verdict;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** This implementation conforms: profile L3, every vector, without anything unsupported. */
@ExtendWith(RememberingEngine.ForTheClass.class)
class EveryVectorHoldsTest {
  private static final Vectors VECTORS = Vectors.load(Golden.ROOT);

  @Test
  void thisImplementationConforms() throws IOException {
    try (Implementation writ = new LocalImplementation("writ", new Adapter(Ours.OPERATIONS))) {
      ConformanceReport report =
          Runner.run(
              VECTORS, new Runner.Selection(ConformanceProfile.L3, List.of()), writ, _ -> {});
      ReportFile.write("writ", report);
      assertThat(report.results().stream().filter(r -> r.verdict() != Verdict.PASSED))
          .extracting(r -> r.vector().name() + ": " + r.detail())
          .isEmpty();
      assertThat(report.conforms()).isTrue();
      assertThat(report.results()).extracting(Result::vector).containsAll(VECTORS.all());
    }
  }

  @Test
  void theIndexIsWhatIsThere() throws IOException {
    byte[] there = Files.readAllBytes(Golden.ROOT.resolve("index.json"));
    assertThat(Arrays.equals(there, Vectors.index(Golden.ROOT)))
        .as("golden-vectors/index.json is current: ./writ conform index")
        .isTrue();
    assertThat(VECTORS.digest()).isEqualTo(Jcs.digest(Jcs.parse(there)));
  }

  @Test
  void everyOperationHasAVectorThatSucceedsAndOneThatFails() {
    TreeSet<String> succeeding = new TreeSet<>();
    TreeSet<String> refused = new TreeSet<>();
    for (Vector vector : VECTORS.all()) {
      (vector.refusals().isEmpty() ? succeeding : refused).add(vector.op());
    }
    TreeSet<String> total = new TreeSet<>(Ours.OPERATIONS.keySet());
    assertThat(succeeding).containsAll(total);
    // These have no input that is refused, or say in their output what is refused.
    assertThat(refused)
        .containsAll(
            without(
                total,
                "bundle.replay",
                "digest",
                "dsse.pae",
                "executor.run",
                "guardian.judge",
                "merkle.leaf",
                "merkle.root"));
  }

  private static TreeSet<String> without(TreeSet<String> all, String... some) {
    TreeSet<String> rest = new TreeSet<>(all);
    rest.removeAll(List.of(some));
    return rest;
  }

  @Test
  void everyAttackNamesThePromiseThatItAttacks() {
    List<Vector> attacks =
        VECTORS.all().stream().filter(v -> v.suite().equals("adversarial")).toList();
    assertThat(attacks).hasSizeGreaterThanOrEqualTo(60);
    assertThat(attacks)
        .allSatisfy(v ->
            assertThat(v.promise())
                .as(v.name())
                .hasValueSatisfying(p -> assertThat(p).isBetween(1L, 10L)));
    for (String attack :
        List.of(
            "receipt-gap",
            "forged-manifest",
            "policy-bypass",
            "fork",
            "truncation",
            "race-budget",
            "envelope-escape",
            "tenant",
            "clock-rollback",
            "key-substitution",
            "downgrade",
            "algorithm-confusion",
            "graft",
            "race-one-nonce")) {
      assertThat(attacks).as(attack).anyMatch(v -> v.name().startsWith("adversarial/" + attack));
    }
  }
}
