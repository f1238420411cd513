package dev.writ.replay;

import dev.writ.executor.testing.TestHome;
import dev.writ.ledger.RunId;
import java.nio.file.Path;

/** What tests of the engine need of the fixture here. */
public final class BundleSeam {
  public static final RunId RUN = Sample.RUN;

  private BundleSeam() {}

  public static TestHome home(Path dir) {
    return Sample.home(dir);
  }

  public static void fill(TestHome home) {
    Sample.fill(home);
  }

  public static void close(TestHome home, String run) {
    Sample.close(home, run);
  }

  /** Exports a run, verified; an open one at a new checkpoint. */
  public static Recording recording(TestHome home, RunId run) {
    home.kernel().checkpoint();
    byte[] bundle = Sample.export(home.ledger(), home, run);
    Sample.verify(bundle);
    return Bundle.of(bundle);
  }
}
