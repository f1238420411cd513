package dev.writ.cli.mcp;

import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.OpenHome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.surfaces.mcp.McpTools;
import dev.writ.tools.registry.BuiltinWords;
import dev.writ.verify.bundle.BundleExport;
import java.util.Optional;

/** The tools of a home, in the form that the protocol shows them. */
public record RegistryTools(OpenHome home, BundleExport.Packages packages) implements McpTools {
  @Override
  public Optional<ToolManifest> manifest(ToolRef tool) {
    return packages.manifest(tool);
  }

  @Override
  public Determinism granted(ToolManifest manifest) {
    return home.granted(manifest);
  }

  @Override
  public JsonValue.Obj input(ToolManifest manifest, ToolManifest.Operation operation) {
    return BuiltinWords.input(manifest, operation);
  }
}
