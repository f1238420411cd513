package dev.writ.surfaces.mcp;

import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import java.util.Optional;

/** The registered tools as they are shown to a client. */
public interface McpTools {
  /** The package of exactly that digest, where it is registered. */
  Optional<ToolManifest> manifest(ToolRef tool);

  /** What the driver grants of what the manifest promises (protocol rule 14). */
  Determinism granted(ToolManifest manifest);
}
