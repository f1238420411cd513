package dev.writ.verify.bundle;

import static org.assertj.core.api.Assertions.assertThat;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.json.ObjectBuilder;
import dev.writ.fixture.TestHome;
import dev.writ.ledger.Ledger;
import dev.writ.ledger.LedgerConfig;
import dev.writ.ledger.LedgerView;
import dev.writ.ledger.note.Checkpoint;
import dev.writ.verify.audit.AuditReport;
import dev.writ.verify.audit.Forgers;
import dev.writ.verify.testing.Node;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Asks the second verifier about every bundle that a test class had the first one verify, in one
 * process at the end, and holds the verdicts against each other.
 */
final class SecondOpinion {
  /** What only judging again finds, which the second verifier says that it does not do. */
  private static final List<String> JUDGED = List.of("EXE-956");

  /** What the second verifier says in place of {@link #NOT_JUDGED}, of every bundle. */
  private static final String JUDGES_NOTHING = "judgements: ";

  private static final String NOT_JUDGED = " decisions: not judged again, ";

  private record Case(
      byte[] bundle,
      BundleVerifier.Options options,
      String code,
      String about,
      List<String> notVerified,
      boolean isForBoth) {}

  private final List<Case> cases = new ArrayList<>();

  /** Verifies, and remembers what came of it. */
  BundleVerifier.Verified verify(byte[] bundle, BundleVerifier.Options options) {
    try {
      BundleVerifier.Verified verified = BundleVerifier.verify(bundle, options, _ -> {});
      cases.add(new Case(bundle, options, "-", "", verified.notVerified(), false));
      return verified;
    } catch (WritException e) {
      cases.add(new Case(bundle, options, e.code().code(), e.found(), List.of(), false));
      throw e;
    }
  }

  /** Asks the first verifier, whatever it says. */
  void about(String what, byte[] bundle) {
    about(what, bundle, false);
  }

  /**
   * The same, of what both have to say the same of, though it is of a judgement. Gives the code.
   */
  String ofBoth(String what, byte[] bundle) {
    return about(what, bundle, true);
  }

  private String about(String what, byte[] bundle, boolean isForBoth) {
    String code = "-";
    String found = "";
    List<String> notVerified = List.of();
    try {
      notVerified =
          BundleVerifier.verify(bundle, BundleVerifier.Options.UNPINNED, _ -> {}).notVerified();
    } catch (WritException e) {
      code = e.code().code();
      found = e.found();
    }
    cases.add(
        new Case(
            bundle,
            BundleVerifier.Options.UNPINNED,
            code,
            what + ": " + found,
            notVerified,
            isForBoth));
    return code;
  }

  /** The code that a bundle is refused with, and what was found; {@code -} where it holds. */
  String refusal(byte[] bundle) {
    try {
      verify(bundle, BundleVerifier.Options.UNPINNED);
      return "-";
    } catch (WritException e) {
      return e.code().code() + " " + e.found();
    }
  }

  /**
   * What a verifier finds wrong first with the run of a forged ledger, or {@code nothing}; the
   * audit finds it too.
   */
  String found(TestHome home, LedgerConfig forged, BundleExport.Options options) {
    try (LedgerView reader = Ledger.openReadOnly(forged.dir())) {
      byte[] bundle = BundleExport.of(reader, Sample.RUN, Sample.packages(home), options);
      List<AuditReport.Problem> problems = Forgers.audit(home, reader).problems();
      try {
        verify(bundle, BundleVerifier.Options.UNPINNED);
      } catch (WritException e) {
        assertThat(problems).extracting(AuditReport.Problem::code).contains(e.code());
        return e.code().code() + " " + e.found();
      }
      assertThat(problems).isEmpty();
      return "nothing";
    }
  }

  /** What the first verifier did not verify of the bundle that it was asked about last. */
  List<String> last() {
    return cases.getLast().notVerified();
  }

  /** The same under the keys that an auditor of {@link Sample} holds. */
  BundleVerifier.Verified pinned(byte[] bundle) {
    return verify(bundle, BundleVerifier.Options.pinned(Sample.pins()));
  }

  /**
   * Refused by one and not by the other is a fault of one of them, and so is a line on what was not
   * verified that one of them leaves out.
   */
  void compare(Path dir) {
    List<JsonValue> asked = new ArrayList<>();
    for (int i = 0; i < cases.size(); i++) {
      asked.add(write(dir, i, cases.get(i)));
    }
    save(dir, "cases.json", Jcs.write(new JsonValue.Arr(asked)));
    Node.Result result =
        Node.run(
            List.of(
                Node.script("opinions.mjs").toString(), Node.VERIFIER.toString(), dir.toString()));
    List<String> answers = result.out().lines().toList();
    assertThat(answers).as(result.out()).hasSameSizeAs(cases);
    List<String> disagree = new ArrayList<>();
    int otherCodes = 0;
    for (int i = 0; i < answers.size(); i++) {
      String first = cases.get(i).code();
      String second = answers.get(i).split(" ", 2)[0];
      boolean same = first.equals("-") == second.equals("-") && !second.equals("CRASH");
      boolean isJudged = JUDGED.contains(first) && !cases.get(i).isForBoth();
      if (!same && !(second.equals("-") && isJudged)) {
        disagree.add(cases.get(i).about() + ": Java " + first + ", JavaScript " + answers.get(i));
      }
      if (first.equals("-") && second.equals("-")) {
        assertThat(bySecond(answers.get(i)))
            .as("case " + i + " " + cases.get(i).about())
            .isEqualTo(byFirst(cases.get(i)));
      }
      if (!first.equals(second)) {
        otherCodes++;
        System.out.println(
            "case "
                + i
                + " "
                + cases.get(i).about()
                + ": Java "
                + first
                + ", JavaScript "
                + answers.get(i));
      }
    }
    System.out.println(answers.size() + " verdicts compared, " + otherCodes + " by another code");
    assertThat(disagree).isEmpty();
  }

  /** What the first one did not verify; it alone says where it met the first of several. */
  private static TreeSet<String> byFirst(Case one) {
    return one.notVerified().stream()
        .filter(line -> !line.contains(NOT_JUDGED))
        .map(line -> line.replaceFirst(", first (event |\\[).*", ""))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  private static TreeSet<String> bySecond(String answer) {
    JsonValue lines = Jcs.parse(answer.substring(2).getBytes(StandardCharsets.UTF_8));
    return ((JsonValue.Arr) lines)
        .items().stream()
            .map(line -> Fields.stringItem("not verified", line))
            .filter(line -> !line.startsWith(JUDGES_NOTHING))
            .collect(Collectors.toCollection(TreeSet::new));
  }

  private static JsonValue write(Path dir, int i, Case one) {
    save(dir, i + ".writ", one.bundle());
    ObjectBuilder entry =
        JsonValue.object()
            .put("bundle", i + ".writ")
            .put("closed", one.options().requireClosed())
            .putList(
                "witnesses", one.options().witnesses().keys(), key -> JsonValue.of(key.toString()))
            .put("quorum", one.options().witnesses().quorum());
    Optional<byte[]> trust = one.options().pinned().map(pins -> Jcs.write(pins.toJson()));
    trust.ifPresent(bytes -> {
      save(dir, i + ".jwks", bytes);
      entry.put("trust", i + ".jwks");
    });
    one.options()
        .earlier()
        .map(Checkpoint::toBytes)
        .ifPresent(bytes -> {
          save(dir, i + ".note", bytes);
          entry.put("checkpoint", i + ".note");
        });
    one.options()
        .installation()
        .map(InstallationProof::toBytes)
        .ifPresent(bytes -> {
          save(dir, i + ".root", bytes);
          entry.put("installation", i + ".root");
        });
    return entry.build();
  }

  private static void save(Path dir, String name, byte[] bytes) {
    try {
      Files.write(dir.resolve(name), bytes);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
