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
  ToolObserver NONE =
      new ToolObserver() {
        @Override
        public void begins(Digest request, ToolManifest tool) {}

        @Override
        public void ends(Optional<DriverOutcome> outcome) {}

        @Override
        public void created() {}

        @Override
        public void executing() {}

        @Override
        public void destroyed() {}
      };

  /**
   * @param request the id of the request whose effect it is
   */
  void begins(Digest request, ToolManifest tool);

  /**
   * @param outcome absent where the driver failed
   */
  void ends(Optional<DriverOutcome> outcome);
}
