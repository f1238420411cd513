package dev.writ.conform.world;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.conform.Ours;
import dev.writ.conform.adapter.Adapter;
import dev.writ.conform.adapter.AdapterAnswer;
import dev.writ.conform.mutant.Golden;
import dev.writ.conform.run.Implementation;
import dev.writ.conform.run.ProcessImplementation;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Differential: both verifiers on whole bundles that {@link BundleGrammar} changes. Verdicts agree
 * as spec/testing.md says ("The fuzzer of whole bundles"). A failure names its seed: {@code
 * -Dwrit.seed=N -Dwrit.bundles=1} repeats it.
 */
class BothVerifiersReadWholeBundlesAlikeTest {
  private static final int ROUNDS = Integer.getInteger("writ.bundles", 60);

  /** What only judging again and reading the policy language find, which the second does not do. */
  private static final Pattern JUDGED = Pattern.compile("EXE-956|GRD-5[0-9][0-9]");

  /** What accepts, or refuses when the form and the signatures of all have passed. */
  private static final Pattern DEEP = Pattern.compile("-|EXE-9[0-9]{2}|GRD-[0-9]{3}|RPL-08[0-3]");

  /** Codes by what of a bundle they are about; one code can be about several. */
  private static final List<Pattern> PARTS =
      List.of(
          Pattern.compile("RPL-0[1-3][0-9]|RPL-084|CAN-0[0-4][0-9]|LED-05[0-9]"),
          Pattern.compile("(EXE|GRD|CAN)-[0-9]{3}|RPL-02[2-4]"),
          Pattern.compile("RPL-04[0-9]|RPL-08[0-9]|RPL-025|LED-0[45][0-9]|CAN-0[2-6][0-9]"));

  static ProcessImplementation javaScript() {
    Path top = Golden.ROOT.resolveSibling(".");
    return new ProcessImplementation(
        String.format(
            "node '%1$s/conform/src/main/resources/dev/writ/conform/adapter.mjs'"
                + " '%1$s/verify/src/main/resources/dev/writ/verify/bundle/verify.mjs'",
            top),
        Duration.ofSeconds(60));
  }

  private static String said(AdapterAnswer answer) {
    return switch (answer) {
      case AdapterAnswer.Output _ -> "-";
      case AdapterAnswer.Refused(String code, String message) ->
          code.matches("[A-Z]{3}-[0-9]{3}") ? code : "CRASH " + code + " " + message;
    };
  }

  private static boolean agree(BundleGrammar.Case one, AdapterAnswer ours, AdapterAnswer theirs) {
    String first = said(ours);
    String second = said(theirs);
    if (first.startsWith("CRASH") || second.startsWith("CRASH")) {
      return false;
    }
    if (first.equals(second)) {
      return true;
    }
    if (first.equals("-") || second.equals("-")) {
      return JUDGED.matcher(first).matches() && second.equals("-");
    }
    return !one.single()
        || PARTS.stream().anyMatch(p -> p.matcher(first).matches() && p.matcher(second).matches());
  }

  private static List<byte[]> bundles() {
    FullRun run = FullRun.made();
    return List.of(
        run.open,
        run.closed,
        run.latest,
        FullRun.lean().closed,
        OtherRuns.troubled(),
        OtherRuns.shared(),
        Golden.bundle("bundle/clock-corrected"),
        Golden.bundle("bundle/governed-corrected-stage"),
        Golden.bundle("bundle/mandate-each-way"),
        Golden.bundle("bundle/order-every-section"),
        Golden.bundle("bundle/placed-tenant-first"),
        Golden.bundle("bundle/reads-stated"),
        Golden.bundle("bundle/retention-by-order"));
  }

  @Test
  void theBundlesThatAreChangedVerify() {
    Adapter first = new Adapter(Ours.OPERATIONS);
    try (Implementation second = javaScript()) {
      for (byte[] bundle : bundles()) {
        for (byte[] file : List.of(bundle, FullRun.remade(bundle).toBytes())) {
          var input = JsonValue.object().put("bundle_b64", StrictBase64.encode(file)).build();
          assertThat(said(first.ask("bundle.verify", input))).isEqualTo("-");
          assertThat(said(second.ask("bundle.verify", input))).isEqualTo("-");
        }
      }
    }
  }

  @Test
  void onAnyChangeTheGrammarMakes() {
    long seed = Long.getLong("writ.seed", 9_349_458_266_187L);
    System.out.println("writ.seed=" + seed);
    List<byte[]> bundles = bundles();
    Adapter first = new Adapter(Ours.OPERATIONS);
    TreeMap<String, Integer> codes = new TreeMap<>();
    List<String> disagree = new ArrayList<>();
    int otherCode = 0;
    try (Implementation second = javaScript()) {
      for (int i = 0; i < ROUNDS; i++) {
        BundleGrammar.Case one = BundleGrammar.of(seed + i, bundles);
        AdapterAnswer ours = first.ask("bundle.verify", one.input());
        AdapterAnswer theirs = second.ask("bundle.verify", one.input());
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
    int deep =
        codes.entrySet().stream()
            .filter(c -> DEEP.matcher(c.getKey()).matches())
            .mapToInt(Map.Entry::getValue)
            .sum();
    System.out.println(
        ROUNDS
            + " bundles, "
            + deep
            + " to the events of the run, "
            + otherCode
            + " by another code: "
            + codes);
    assertThat(disagree).isEmpty();
  }
}
