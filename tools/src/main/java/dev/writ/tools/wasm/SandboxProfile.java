package dev.writ.tools.wasm;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Jcs;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.tools.error.ToolsError;

/**
 * The definition of these drivers' only sandbox profile, as a document whose digest goes into the
 * snapshot: it names everything that can change the bytes of a result.
 */
public final class SandboxProfile {
  /** The name of the profile. */
  public static final String NAME = "wasm";

  /** The WebAssembly engine. */
  public static final String CHICORY = "chicory 1.7.5";

  private SandboxProfile() {}

  /**
   * The digest of the profile for one driver.
   *
   * @param guest the driver's own programs, with their versions
   * @throws WritException {@code TOL-003} for any other name
   */
  public static Digest digest(String profile, String driver, String guest) {
    if (!profile.equals(NAME)) {
      throw new WritException(
          ToolsError.PROFILE_UNKNOWN,
          Texts.message("\"" + profile + "\" for the driver " + driver));
    }
    return Jcs.digest(
        JsonValue.object()
            .put("profile", NAME)
            .put("driver", driver)
            .put("engine", CHICORY)
            .put("guest", guest)
            .put("interface", 1)
            .put("stack_bytes", GuestPool.STACK_BYTES)
            .build());
  }
}
