package dev.writ.tools.wasm;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;

/** What drivers require of a manifest. */
public final class Preparation {
  private Preparation() {}

  /**
   * As {@link #operation}, and that the tool asks for no capability: what runs inside the process
   * has none.
   *
   * @throws WritException {@code TOL-001} to {@code TOL-004}
   */
  public static ToolManifest.Operation check(
      Driver driver, ToolManifest manifest, String operation) {
    ToolManifest.Operation found = operation(driver, manifest, operation);
    if (!manifest.capabilities().equals(ToolManifest.Capabilities.none())) {
      throw new WritException(ToolsError.NOT_PURE, manifest.name() + " names capabilities");
    }
    return found;
  }

  /**
   * The operation, if the manifest is one for this driver.
   *
   * @throws WritException {@code TOL-001}, {@code TOL-002}, {@code TOL-003}
   */
  public static ToolManifest.Operation operation(
      Driver driver, ToolManifest manifest, String operation) {
    if (!manifest.driver().equals(driver.name())) {
      throw new WritException(
          ToolsError.DRIVER_MISMATCH,
          manifest.name() + " names " + manifest.driver() + ", this is " + driver.name());
    }
    for (String sandbox : manifest.sandboxes()) {
      driver.sandboxProfile(sandbox);
    }
    return manifest
        .operation(operation)
        .orElseThrow(() ->
            new WritException(
                ToolsError.OPERATION_UNKNOWN,
                Texts.message(manifest.name() + " has no operation \"" + operation + "\"")));
  }
}
