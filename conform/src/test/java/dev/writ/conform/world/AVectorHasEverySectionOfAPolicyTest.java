package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * Every verifier reads whole policies, so bundle/order-every-section has one in which nothing is
 * left out. A section that policies get later fails here until the vector has it.
 */
class AVectorHasEverySectionOfAPolicyTest {
  /** What policies have under the same name as their parts in Java. */
  private static List<String> sections() throws ClassNotFoundException {
    RecordComponent[] parts =
        Class.forName("dev.writ.guardian.policy.PolicyParts").getRecordComponents();
    return Arrays.stream(parts)
        .map(RecordComponent::getName)
        .map(name ->
            switch (name) {
              case "rates", "hours", "orders" -> "temporal";
              case "rules" -> "requirements";
              case "executeFor" -> "execute_for";
              default -> name;
            })
        .toList();
  }

  @Test
  void nothingIsLeftOutButThePolicyBefore() throws ClassNotFoundException {
    TreeSet<String> wanted = new TreeSet<>(sections());
    wanted.add("writ_policy");
    wanted.remove("previous");
    wanted.remove("observes"); // a mode: ShortRuns.OBSERVED has it
    assertThat(Plot.EVERY_SECTION.toJson().members().keySet())
        .containsExactlyInAnyOrderElementsOf(wanted);
  }
}
