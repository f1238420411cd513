package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.run.Implementation;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Differential: both verifiers on what an auditor brings beside a bundle, changed by {@link
 * BroughtGrammar}: passkeys, witnesses, an installation's root. A failure names its seed: {@code
 * -Dwrit.seed=N -Dwrit.brought=1} repeats it.
 */
class BothVerifiersTakeTheSameWordsTest {
  private static final int ROUNDS = Integer.getInteger("writ.brought", 300);

  private static String said(AdapterAnswer answer) {
    return switch (answer) {
      case AdapterAnswer.Output(var output) -> "- " + output;
      case AdapterAnswer.Refused(String code, String message) ->
          code.matches("[A-Z]{3}-[0-9]{3}") ? code : "CRASH " + code + " " + message;
    };
  }

  /** Where several things are wrong, the verifiers need not find the same one first. */
  private static boolean agree(String op, String first, String second) {
    boolean bothRefuse = first.matches("[A-Z]{3}-[0-9]{3}") && second.matches("[A-Z]{3}-[0-9]{3}");
    return first.equals(second) || bothRefuse && List.of("bundle.verify", "key.enrol").contains(op);
  }

  @Test
  void whateverIsBrought() {
    long seed = Long.getLong("writ.seed", 77_020_001L);
    System.out.println("writ.seed=" + seed);
    Adapter first = new Adapter(Ours.OPERATIONS);
    TreeMap<String, Integer> codes = new TreeMap<>();
    List<String> disagree = new ArrayList<>();
    try (Implementation second = BothVerifiersReadWholeBundlesAlikeTest.javaScript()) {
      for (int i = 0; i < ROUNDS; i++) {
        BroughtGrammar.Case one = BroughtGrammar.of(seed + i);
        String ours = said(first.ask(one.op(), one.input()));
        String theirs = said(second.ask(one.op(), one.input()));
        codes.merge(
            one.op() + " " + ours.substring(0, Math.min(7, ours.length())), 1, Integer::sum);
        if (!agree(one.op(), ours, theirs)) {
          disagree.add(
              "writ.seed=" + (seed + i) + " " + ours + " | " + theirs + " | " + one.what());
        }
      }
    }
    System.out.println(codes);
    assertThat(disagree).isEmpty();
  }
}
