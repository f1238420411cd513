package dev.writ.gateway.v1;

import dev.writ.executor.Kernel;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.ledger.RunId;
import dev.writ.replay.BundleExport;
import java.util.Optional;
import java.util.function.Function;

/** The bundle of a run, as replay exports it: the only place of the gateway that knows how. */
public final class RunBundle {
  private final Function<ToolRef, Optional<ToolManifest>> manifests;

  /**
   * @param manifests finds the manifest of exactly that package
   */
  public RunBundle(Function<ToolRef, Optional<ToolManifest>> manifests) {
    this.manifests = manifests;
  }

  byte[] of(Kernel kernel, RunId run) {
    kernel.checkpoint(); // an open run's bundle rests on the latest one
    return BundleExport.of(
        kernel.ledger(), run, manifests::apply, BundleExport.Options.WHOLE);
  }
}
