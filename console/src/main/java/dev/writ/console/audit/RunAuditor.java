package dev.writ.console.audit;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.engine.ReplaySession;
import dev.writ.replay.engine.RunDiff;
import dev.writ.replay.report.ReportPage;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.Verification;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/**
 * What is done with the bundle of a run, by the code of the command line. No keys are pinned: the
 * signers are those of this server, and who does not trust it verifies the bundle elsewhere.
 */
public final class RunAuditor {
  /** Requests of a comparison that are listed. */
  private static final int PAIRS_MAX = 1_000;

  private final List<Driver> drivers;

  /**
   * @param drivers of tools that are no processes; their sandbox profiles are part of snapshots
   */
  public RunAuditor(List<Driver> drivers) {
    this.drivers = List.copyOf(drivers);
  }

  /** Hears how far it is, and may end the work by an exception. */
  @FunctionalInterface
  interface Progress {
    /**
     * @param total 0 where it is not known
     */
    void at(String what, long done, long total);
  }

  /** Like {@code writ verify}. */
  Outcome verify(Path bundle, Progress progress) {
    Verification seen =
        Verification.of(
            bundle,
            new BundleVerifier.Options(Optional.empty(), Optional.empty(), false),
            new BundleVerifier.Listener() {
              @Override
              public void accept(String line) {}

              @Override
              public void progress(String what, long done, long total) {
                progress.at(what, done, total);
              }
            });
    return new Outcome(seen.holds(), seen.toJson());
  }

  /** Like {@code writ replay}; a bundle that does not verify is not replayed. */
  Outcome replay(String run, Path file, Progress progress) {
    try (Bundle bundle = Bundle.open(file)) {
      List<String> verified = verified(bundle);
      ReplayOptions options =
          new ReplayOptions(false, true, drivers, events -> progress.at("events", events, 0));
      ReplaySession session =
          new ReplaySession(
              run,
              Optional.empty(),
              false,
              Optional.of(new Replay(bundle.ahead(), options).run()),
              verified);
      return new Outcome(session.state().equals("COMPLETE"), session.toJson());
    } catch (WritException e) {
      return new Outcome(
          false,
          new ReplaySession(run, Optional.of(e), false, Optional.empty(), List.of()).toJson());
    }
  }

  /** Like {@code writ report}. */
  void report(Path bundle, OutputStream page) {
    ReportPage.write(List.of(bundle), ReportPage.Options.NONE, page);
  }

  /** Like {@code writ diff}; of the pairs those that differ. */
  Outcome compare(String a, Path fileA, String b, Path fileB) {
    try (Bundle first = Bundle.open(fileA);
        Bundle second = Bundle.open(fileB)) {
      verified(first);
      verified(second);
      List<RunDiff.Pair> pairs = RunDiff.of(first, second, false);
      List<RunDiff.Pair> differing = pairs.stream().filter(pair -> !pair.isSame()).toList();
      return new Outcome(
          differing.isEmpty(),
          JsonValue.object()
              .put("a", a)
              .put("b", b)
              .put("requests", pairs.size())
              .put("differing", differing.size())
              .putList("pairs", differing.stream().limit(PAIRS_MAX).toList(), RunDiff.Pair::toJson)
              .build());
    }
  }

  private static List<String> verified(Bundle bundle) {
    return BundleVerifier.verify(
            bundle, new BundleVerifier.Options(Optional.empty(), Optional.empty(), false), _ -> {})
        .verified();
  }

  /**
   * @param holds whether nothing speaks against the run
   */
  record Outcome(boolean holds, JsonValue said) {}
}
