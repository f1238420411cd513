package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.Implementation;
import dev.writ.executor.journal.EventKind;
import dev.writ.verify.bundle.Remade;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Differential: both verifiers on a run under a policy that {@link PolicyGrammar} changed and a
 * forger signed. They take and refuse the same policies, but for expressions, which the first alone
 * reads (spec/bundle.md, The second verifier). A failure names its seed: {@code -Dwrit.seed=N
 * -Dwrit.policies=1} repeats it.
 */
class BothVerifiersReadAnyPolicyAlikeTest {
  private static final int ROUNDS = Integer.getInteger("writ.policies", 150);

  /** What only judging again and compiling expressions find. */
  private static final String JUDGED = "EXE-956|GRD-509";

  private static String said(AdapterAnswer answer) {
    return switch (answer) {
      case AdapterAnswer.Output _ -> "-";
      case AdapterAnswer.Refused(String code, String message) ->
          code.matches("[A-Z]{3}-[0-9]{3}") ? code : "CRASH " + code + " " + message;
    };
  }

  private static boolean agree(String first, String second) {
    return !first.startsWith("CRASH")
        && !second.startsWith("CRASH")
        && (first.equals("-") == second.equals("-") || second.equals("-") && first.matches(JUDGED));
  }

  @Test
  void whateverIsChangedInIt() {
    long seed = Long.getLong("writ.seed", 4_017_733L);
    System.out.println("writ.seed=" + seed);
    byte[] bundle = Golden.bundle("bundle/order-every-section");
    Adapter first = new Adapter(Ours.OPERATIONS);
    TreeMap<String, Integer> codes = new TreeMap<>();
    List<String> disagree = new ArrayList<>();
    try (Implementation second = BothVerifiersReadWholeBundlesAlikeTest.javaScript()) {
      for (int i = 0; i < ROUNDS; i++) {
        PolicyGrammar grammar = new PolicyGrammar(seed + i);
        Remade remade = ShortRuns.remade(bundle);
        Digest policy = TrustVectors.body(remade, EventKind.POLICY_ACTIVATED);
        remade.change(policy, grammar::change);
        var input = JsonValue.object().put("bundle_b64", StrictBase64.encode(remade.toBytes()));
        String ours = said(first.ask("bundle.verify", input.build()));
        String theirs = said(second.ask("bundle.verify", input.build()));
        codes.merge(ours, 1, Integer::sum);
        if (!agree(ours, theirs)) {
          disagree.add("writ.seed=" + (seed + i) + " " + ours + " " + theirs + " " + grammar.what);
        }
      }
    }
    System.out.println(codes);
    assertThat(disagree).isEmpty();
  }
}
