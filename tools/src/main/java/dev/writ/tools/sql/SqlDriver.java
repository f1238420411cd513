package dev.writ.tools.sql;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.wasm.GuestPool;
import dev.writ.tools.wasm.Preparation;
import dev.writ.tools.wasm.SandboxProfile;

/** Runs one SQL query over input files, on SQLite inside WebAssembly (spec/tool-sql.md). */
public final class SqlDriver implements Driver {
  public static final String NAME = "sql";

  private final GuestPool pool;

  public SqlDriver(GuestPool pool) {
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
    return SandboxProfile.digest(profile, NAME, Sqlite.VERSION);
  }

  @Override
  public Prepared prepare(ToolManifest manifest, String operation, PackageContent content) {
    Preparation.check(this, manifest, operation);
    if (!manifest.files().isEmpty()) {
      throw new WritException(
          ToolsError.FILES_UNEXPECTED, manifest.name() + " lists " + manifest.files().size());
    }
    return invocation -> pool.run(invocation, SqlProgram::run);
  }
}
