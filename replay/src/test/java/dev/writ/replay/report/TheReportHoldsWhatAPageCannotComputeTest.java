package dev.writ.replay.report;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.journal.EventKind;
import dev.writ.fixture.TestHome;
import dev.writ.fixture.TestPolicy;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.Sample;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A page has no CEL: what each node of a requirement found is computed when it is made. */
class TheReportHoldsWhatAPageCannotComputeTest {
  @Test
  void a_tree_for_each_decision_that_a_requirement_covers(@TempDir Path dir) {
    try (TestHome home = Sample.home(dir)) {
      home.activate(
          TestPolicy.YAML.replace("effect: { tool: sim }", "effect: { tool: sim, operation: do }"));
      home.submit(home.ask("alice").tool("mail").params("{\"forbidden\":1}"));
      home.submit(home.ask("alice").tool("sim").operation("twice"));
      var pay = home.ask("alice").tool("pay").sign();
      home.submit(pay);
      home.approve(pay, "rita");
      List<String> decisions =
          home.events("acme", "run-1").stream()
              .filter(event -> event.kind().equals(EventKind.DECISION_MADE))
              .map(event -> event.body().toString())
              .toList();
      JsonValue.Obj trees;
      try (Bundle bundle = Bundle.of(Sample.bundle(home, Sample.RUN))) {
        trees = RequirementTrees.of(bundle);
      }
      assertThat(decisions).hasSize(4);
      assertThat(trees.members())
          .as("no requirement covers the second")
          .containsOnlyKeys(decisions.get(0), decisions.get(2), decisions.get(3));
      assertThat(trees.get(decisions.get(0)).toString()).contains("has(params.forbidden)");
      assertThat(trees.get(decisions.get(2)).toString())
          .isNotEqualTo(trees.get(decisions.get(3)).toString());
    }
  }
}
