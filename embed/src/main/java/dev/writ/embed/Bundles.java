package dev.writ.embed;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.executor.driver.Driver;
import dev.writ.replay.engine.Replay;
import dev.writ.replay.engine.ReplayOptions;
import dev.writ.replay.engine.ReplaySession;
import dev.writ.tools.Drivers;
import dev.writ.verify.bundle.Bundle;
import dev.writ.verify.bundle.BundleVerifier;
import dev.writ.verify.bundle.Verification;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Verifies and replays exported runs. Needs no installation, only the file. */
public final class Bundles {
  private Bundles() {}

  /**
   * Verifies a bundle from its bytes alone. A failed verification is in the result, not thrown.
   *
   * @param trust keys obtained from elsewhere; without them only integrity is verified
   */
  public static Verification verify(Path file, Optional<Trust> trust) {
    return Verification.of(
        file, new BundleVerifier.Options(trust, Optional.empty(), false), _ -> {});
  }

  /**
   * Verifies a bundle and executes its run again with the recorded clock, seeds and tool outcomes;
   * the session names the first byte that differs.
   *
   * @param trust keys obtained from elsewhere
   */
  public static ReplaySession replay(Path file, Optional<Trust> trust) {
    Verification verification = verify(file, trust);
    String name = file.toString();
    if (!verification.holds()) {
      return new ReplaySession(
          name, verification.failure(), trust.isPresent(), Optional.empty(), List.of());
    }
    try (Drivers drivers = Drivers.withoutProcesses();
        Bundle bundle = Bundle.open(file)) {
      List<Driver> all = new ArrayList<>(drivers.byName().values());
      all.add(new JavaDriver(List.of()));
      return new ReplaySession(
          name,
          Optional.empty(),
          trust.isPresent(),
          Optional.of(new Replay(bundle, ReplayOptions.recorded(all)).run()),
          verification.verified());
    } catch (WritException e) {
      return new ReplaySession(
          name, Optional.of(e), trust.isPresent(), Optional.empty(), List.of());
    }
  }
}
