package dev.writ.gateway.pipeline;

import dev.writ.canonicalize.Digest;
import dev.writ.executor.driver.DriverOutcome;
import dev.writ.executor.driver.SandboxObserver;
import dev.writ.guardian.document.ToolManifest;
import java.util.Optional;

/**
 * Watches the tool of an effect, on the thread that runs it: first {@link #begins}, then what
 * happens to its sandbox, then {@link #ends}. It cannot influence the work, and must not throw.
 */
public interface ToolObserver extends SandboxObserver {
  /** Watches nothing. */
  ToolObserver NONE = new ToolObserver() {};

  /**
   * @param request the id of the request whose effect it is
   */
  default void begins(Digest request, ToolManifest tool) {}

  /**
   * @param outcome absent where the driver failed
   */
  default void ends(Optional<DriverOutcome> outcome) {}
}
