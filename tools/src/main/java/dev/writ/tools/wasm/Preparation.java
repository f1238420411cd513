package dev.writ.tools.wasm;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;

/** Requirements of all drivers of this module on a manifest. */
public final class Preparation {
  private Preparation() {}

  /**
   * The operation, if the manifest is one for this driver.
   *
   * @throws WritException {@code TOL-001}, {@code TOL-002}, {@code TOL-003}, {@code TOL-004}
   */
  public static ToolManifest.Operation check(
      Driver driver, ToolManifest manifest, String operation) {
    if (!manifest.driver().equals(driver.name())) {
      throw new WritException(
          ToolsError.DRIVER_MISMATCH,
          manifest.name() + " names " + manifest.driver() + ", this is " + driver.name());
    }
    if (!manifest.capabilities().equals(ToolManifest.Capabilities.none())) {
      throw new WritException(ToolsError.NOT_PURE, manifest.name() + " names capabilities");
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
