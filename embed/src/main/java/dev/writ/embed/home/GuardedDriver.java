package dev.writ.embed.home;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.error.ExecutorError;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import java.util.List;

/**
 * Stands in a guardian's process for a driver of its executor: knows its sandbox profiles, which
 * decisions name, and runs nothing.
 */
record GuardedDriver(Driver driver) implements Driver {
  @Override
  public String name() {
    return driver.name();
  }

  @Override
  public Determinism determinism() {
    return driver.determinism();
  }

  @Override
  public Digest sandboxProfile(String profile) {
    return driver.sandboxProfile(profile);
  }

  @Override
  public List<Digest> sandboxProfilesBefore(String profile) {
    return driver.sandboxProfilesBefore(profile);
  }

  /** The executor makes it ready; what this gives is never run. */
  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    return _ -> {
      throw new WritException(
          ExecutorError.NOT_APART, manifest.name() + " in the guardian's process");
    };
  }
}
