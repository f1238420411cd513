package dev.writ.bench;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import java.nio.charset.StandardCharsets;

/**
 * A pure tool in memory that does nothing and, unlike the fixture's driver, remembers nothing, so
 * that what is measured is the kernel.
 */
class NoopDriver implements Driver {
  static final String NAME = "noop";

  private static final byte[] OUTPUT = "{\"ok\":true}".getBytes(StandardCharsets.UTF_8);
  private static final Digest PROFILE = Digest.sha256(NAME.getBytes(StandardCharsets.UTF_8));

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Determinism determinism() {
    return Determinism.PURE;
  }

  @Override
  public Digest sandboxProfile(String profile) {
    return PROFILE;
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    return _ -> DriverOutcome.succeeded(OUTPUT, "application/json", DriverOutcome.Metrics.NONE);
  }
}
