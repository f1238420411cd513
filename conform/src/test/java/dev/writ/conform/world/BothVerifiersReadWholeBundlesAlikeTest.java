package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.Answer;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.Implementation;
import dev.writ.conform.run.ProcessImplementation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Differential: both verifiers on whole bundles that {@link BundleGrammar} changes. Any two
 * verdicts that differ are a fault of one of them, and so are codes of two families where one thing
 * was changed. A failure names its seed: {@code -Dwrit.seed=N -Dwrit.bundles=1} repeats it.
 */
class BothVerifiersReadWholeBundlesAlikeTest {
  private static final int ROUNDS = Integer.getInteger("writ.bundles", 60);

  /** What only judging again finds, which the second verifier says that it does not do. */
  private static final String JUDGED = "EXE-956";

  private static ProcessImplementation javaScript() {
    Path top = Golden.ROOT.resolveSibling(".");
    return new ProcessImplementation(
        String.format(
            "node '%1$s/conform/src/main/resources/dev/writ/conform/adapter.mjs'"
                + " '%1$s/replay/src/main/resources/dev/writ/replay/verify.mjs'",
            top),
        Duration.ofSeconds(60));
  }

  private static String said(Answer answer) {
    return switch (answer) {
      case Answer.Output _ -> "-";
      case Answer.Refused(String code, String message) ->
          code.matches("[A-Z]{3}-[0-9]{3}") ? code : "CRASH " + code + " " + message;
    };
  }

  private static boolean agree(BundleGrammar.Case one, Answer ours, Answer theirs) {
    String first = said(ours);
    String second = said(theirs);
    if (first.startsWith("CRASH") || second.startsWith("CRASH")) {
      return false;
    }
    if (first.equals(second)) {
      return true;
    }
    if (first.equals("-") || second.equals("-")) {
      return first.equals(JUDGED) && second.equals("-");
    }
    return !one.single()
        || first.substring(0, 3).equals(second.substring(0, 3))
        || names(ours, second)
        || names(theirs, first);
  }

  /** A refusal for its place may name the one for its form in brackets, and the other way round. */
  private static boolean names(Answer answer, String code) {
    return answer instanceof Answer.Refused(String _, String message)
        && message.contains(code.substring(0, 4));
  }

  @Test
  void onAnyChangeTheGrammarMakes() {
    long seed = Long.getLong("writ.seed", 9_349_458_266_187L);
    System.out.println("writ.seed=" + seed);
    FullRun run = FullRun.made();
    List<byte[]> bundles = List.of(run.open, run.closed, run.latest);
    Adapter first = new Adapter(Ours.OPERATIONS);
    TreeMap<String, Integer> codes = new TreeMap<>();
    List<String> disagree = new ArrayList<>();
    int otherCode = 0;
    try (Implementation second = javaScript()) {
      for (int i = 0; i < ROUNDS; i++) {
        BundleGrammar.Case one = BundleGrammar.of(seed + i, bundles);
        Answer ours = first.ask("bundle.verify", one.input());
        Answer theirs = second.ask("bundle.verify", one.input());
        String a = said(ours);
        String b = said(theirs);
        codes.merge(a, 1, Integer::sum);
        otherCode += a.equals(b) ? 0 : 1;
        if (!agree(one, ours, theirs)) {
          disagree.add(
              "writ.seed=" + (seed + i) + " " + one.what() + "\n  " + ours + "\n  " + theirs);
        }
      }
    }
    System.out.println(ROUNDS + " bundles, " + otherCode + " by another code: " + codes);
    assertThat(disagree).isEmpty();
  }
}
