package dev.writ.surfaces.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import java.util.List;
import java.util.Optional;

/** The registered tools, as clients see them. */
public interface McpTools {
  /** The package of exactly that digest, if it is registered. */
  Optional<ToolManifest> manifest(ToolRef tool);

  /**
   * The determinism that is granted: the weaker of the driver's and the manifest's (protocol rule
   * 14).
   */
  Determinism granted(ToolManifest manifest);

  /** The input schema of an operation with the descriptions that its readers need. */
  default JsonValue.Obj input(ToolManifest manifest, ToolManifest.Operation operation) {
    return operation.input();
  }

  /**
   * What the MCP server of somebody else that has this operation says of it itself, as it is pinned
   * (spec/tool-mcp.md): an entry of tools/list. Empty for every other tool.
   */
  default Optional<JsonValue.Obj> listed(ToolManifest manifest, ToolManifest.Operation operation) {
    return Optional.empty();
  }

  /**
   * What a package of somebody else's server passes.
   *
   * @param passes the names in its {@code server.json}
   * @param pinned {@code prompts} and {@code templates}, as the server listed them
   */
  record Offered(List<String> passes, JsonValue.Obj pinned) {}

  /** What the MCP server of this package has beside tools; empty for every other tool. */
  default Optional<Offered> offered(ToolManifest manifest) {
    return Optional.empty();
  }
}
