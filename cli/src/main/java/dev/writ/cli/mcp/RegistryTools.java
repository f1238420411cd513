package dev.writ.cli.mcp;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.OpenHome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.surfaces.mcp.McpTools;
import dev.writ.tools.mcp.ListedTool;
import dev.writ.tools.mcp.PinnedTools;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.registry.BuiltinWords;
import dev.writ.verify.bundle.BundleExport;
import java.util.Optional;
import java.util.concurrent.ConcurrentSkipListMap;

/** The tools of a home, in the form that the protocol shows them. */
public final class RegistryTools implements McpTools {
  private final OpenHome home;
  private final BundleExport.Packages packages;

  /** What servers list is read once for each package: it is pinned. */
  private final ConcurrentSkipListMap<Digest, PinnedTools> pinned = new ConcurrentSkipListMap<>();

  public RegistryTools(OpenHome home, BundleExport.Packages packages) {
    this.home = home;
    this.packages = packages;
  }

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

  @Override
  public Optional<JsonValue.Obj> listed(ToolManifest manifest, ToolManifest.Operation operation) {
    if (!manifest.driver().equals(UpstreamPackage.DRIVER)) {
      return Optional.empty();
    }
    return pinned
        .computeIfAbsent(
            manifest.packageDigest(),
            _ -> UpstreamPackage.read(manifest, packages.files(manifest)).tools())
        .tool(operation.name())
        .map(ListedTool::toJson);
  }
}
