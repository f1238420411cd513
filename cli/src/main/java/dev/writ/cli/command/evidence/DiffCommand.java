package dev.writ.cli.command.evidence;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.cli.base.Arguments;
import dev.writ.cli.base.CliCommand;
import dev.writ.cli.base.CommandUsage;
import dev.writ.cli.base.ExitCode;
import dev.writ.cli.base.Report;
import dev.writ.cli.base.Session;
import dev.writ.cli.term.Style;
import dev.writ.cli.term.Terminal;
import dev.writ.cli.term.Text;
import dev.writ.replay.engine.Divergence.Field;
import dev.writ.replay.engine.RunDiff;
import java.util.List;
import java.util.Optional;

/** {@code writ diff}: where two runs differ, request by request. */
public final class DiffCommand implements CliCommand {
  @Override
  public CommandUsage usage() {
    return CommandUsage.of(
            "diff",
            "Compare two recorded runs request by request: effect, decision, outcome and output.",
            "Both bundles are verified first. Values that differ in any two runs (ids,"
                + " times, seeds, chains) are left out.")
        .argument("A", "A bundle that `export` wrote.")
        .argument("B", "Another one.")
        .flag("--all", "Compare every field of decisions, refusals and receipts.")
        .option("--trust", "JWKS", "The pinned keys for both; see `verify`.");
  }

  record Compared(String a, String b, List<RunDiff.Pair> pairs) implements Report {
    @Override
    public JsonValue toJson() {
      return JsonValue.object()
          .put("a", a)
          .put("b", b)
          .put("same", JsonValue.of(differing() == 0))
          .putList("requests", pairs, RunDiff.Pair::toJson)
          .build();
    }

    long differing() {
      return pairs.stream().filter(pair -> !pair.isSame()).count();
    }
  }

  @Override
  public ExitCode run(Session session, Arguments arguments) {
    Optional<Trust> trust = NamedTrust.of(session, arguments);
    Compared compared;
    try (NamedBundles bundles = new NamedBundles(session);
        BundleFile a = opened(bundles, arguments.argument("A"), trust);
        BundleFile b = opened(bundles, arguments.argument("B"), trust)) {
      compared =
          new Compared(
              a.recording().manifest().run().toString(),
              b.recording().manifest().run().toString(),
              RunDiff.of(a.recording(), b.recording(), arguments.has("--all")));
    }
    session.show(compared, DiffCommand::print);
    return compared.differing() == 0 ? ExitCode.OK : ExitCode.DIVERGED;
  }

  /** What is wrong with one of the two names it. */
  private static BundleFile opened(NamedBundles bundles, String name, Optional<Trust> trust) {
    String file = bundles.file(name);
    try {
      return BundleFile.verified(file, trust);
    } catch (WritException e) {
      throw e.found().contains(name) ? e : new WritException(e.code(), name + ": " + e.found(), e);
    }
  }

  private static void print(Compared compared, Terminal terminal) {
    terminal.out().println(Text.printable("a  " + compared.a()));
    terminal.out().println(Text.printable("b  " + compared.b()));
    boolean parted = false;
    for (RunDiff.Pair pair : compared.pairs()) {
      if (pair.isSame()) {
        continue;
      }
      terminal
          .out()
          .println(
              terminal.paint(Style.BAD, parted ? "differs" : "part here")
                  + "  "
                  + Text.printable(
                      pair.effect()
                          + "  a: "
                          + pair.seqA().map(seq -> "event " + seq).orElse("not asked")
                          + ", b: "
                          + pair.seqB().map(seq -> "event " + seq).orElse("not asked")));
      parted = true;
      pair.fields().forEach(field -> print(field, terminal));
      pair.diff()
          .ifPresent(
              diff -> diff.lines().forEach(l -> terminal.out().println("  " + Text.printable(l))));
    }
    terminal
        .out()
        .println(
            compared.pairs().size() + " requests, " + compared.differing() + " of them differ");
  }

  private static void print(Field field, Terminal terminal) {
    terminal
        .out()
        .println(
            "  "
                + Text.printable(
                    field.pointer() + "  a=" + field.recorded() + "  b=" + field.replayed()));
  }
}
