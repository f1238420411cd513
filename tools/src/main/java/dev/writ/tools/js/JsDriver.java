package dev.writ.tools.js;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.wasm.GuestPool;
import dev.writ.tools.wasm.Preparation;
import dev.writ.tools.wasm.SandboxProfile;

/** Runs JavaScript on QuickJS inside WebAssembly (spec/tool-js.md). */
public final class JsDriver implements Driver {
  public static final String NAME = "js";

  private final GuestPool pool;

  public JsDriver(GuestPool pool) {
    this.pool = pool;
  }

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
    String prelude = Digest.sha256(Prelude.source()).toString();
    return SandboxProfile.digest(profile, NAME, QuickJs.VERSION + " " + prelude);
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    Preparation.check(this, manifest, operation);
    if (!manifest.files().isEmpty()) {
      throw new WritException(
          ToolsError.FILES_UNEXPECTED, manifest.name() + " lists " + manifest.files().size());
    }
    Prelude.snapshot();
    return invocation -> pool.run(invocation, JsProgram::run);
  }
}
