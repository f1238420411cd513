package dev.writ.verify.bundle;

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
    return Bundle.of(bundle(home, run, BundleExport.Options.WHOLE));
  }

  /** The same without blobs or tools. */
  public static Recording recording(TestHome home, RunId run, boolean blobs, boolean tools) {
    return Bundle.of(
        bundle(home, run, new BundleExport.Options(blobs, tools, java.util.Optional.empty())));
  }

  public static byte[] bundle(TestHome home, RunId run) {
    return bundle(home, run, BundleExport.Options.WHOLE);
  }

  private static byte[] bundle(TestHome home, RunId run, BundleExport.Options options) {
    home.kernel().checkpoint();
    byte[] bundle = BundleExport.of(home.ledger(), run, Sample.packages(home), options);
    Sample.verify(bundle);
    return bundle;
  }
}
