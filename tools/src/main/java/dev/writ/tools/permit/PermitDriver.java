package dev.writ.tools.permit;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.wasm.Preparation;
import dev.writ.tools.wasm.SandboxProfile;

/**
 * Hands out a permission, and does nothing (spec/hooks.md). The effect is the answer to an agent
 * that asked whether it may act: a receipt says that it got this answer, and nothing about what it
 * did then.
 */
public final class PermitDriver implements Driver {
  public static final String NAME = "permit";

  /** The operation by which an agent reports what it did: no permission is handed out for it. */
  public static final String REPORT = "report";

  private static final String VERSION = "1";

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
    return SandboxProfile.digest(profile, NAME, VERSION);
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    Preparation.operation(this, manifest, operation);
    if (!manifest.files().isEmpty()) {
      throw new WritException(
          ToolsError.FILES_UNEXPECTED, manifest.name() + " lists " + manifest.files().size());
    }
    byte[] answer =
        Jcs.write(
            JsonValue.object()
                .put("answer", operation.equals(REPORT) ? "recorded" : "allow")
                .build());
    return _ -> DriverOutcome.succeeded(answer, "application/json", DriverOutcome.Metrics.NONE);
  }
}
