package dev.writ.cli.mcp;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.JsonValue;
import dev.writ.embed.home.OpenHome;
import dev.writ.guardian.document.Determinism;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.surfaces.mcp.McpTools;
import dev.writ.tools.mcp.ListedTool;
import dev.writ.tools.mcp.UpstreamPackage;
import dev.writ.tools.registry.BrokenPackage;
import dev.writ.tools.registry.BuiltinWords;
import dev.writ.verify.bundle.BundleExport;
import java.util.Optional;
import java.util.function.Consumer;

/** The tools of a home, in the form that the protocol shows them. */
public final class RegistryTools implements McpTools {
  private final OpenHome home;
  private final BundleExport.Packages packages;
  private final Consumer<BrokenPackage> broken;
  private final PinnedLists pinned;

  /** For as long as the home is open. */
  public RegistryTools(
      OpenHome home, BundleExport.Packages packages, Consumer<BrokenPackage> broken) {
    this(home, packages, broken, new PinnedLists());
  }

  /**
   * @param broken is told of a package that cannot be read, each time that it is asked for
   * @param pinned what was read before
   */
  RegistryTools(
      OpenHome home,
      BundleExport.Packages packages,
      Consumer<BrokenPackage> broken,
      PinnedLists pinned) {
    this.home = home;
    this.packages = packages;
    this.broken = broken;
    this.pinned = pinned;
  }

  /** A package that cannot be read is as one that is not there: the others go on without it. */
  @Override
  public Optional<ToolManifest> manifest(ToolRef tool) {
    try {
      Optional<ToolManifest> manifest = packages.manifest(tool);
      manifest.ifPresent(this::upstream);
      return manifest;
    } catch (WritException e) {
      broken.accept(new BrokenPackage(tool.name(), tool.version(), e));
      return Optional.empty();
    }
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
    return upstream(manifest)
        .flatMap(known -> known.tools().tool(operation.name()))
        .map(ListedTool::toJson);
  }

  @Override
  public Optional<Offered> offered(ToolManifest manifest) {
    return upstream(manifest)
        .map(known -> new Offered(known.passes().names(), known.tools().offers().toJson()));
  }

  private Optional<PinnedLists.Pinned> upstream(ToolManifest manifest) {
    return manifest.driver().equals(UpstreamPackage.DRIVER)
        ? Optional.of(pinned.of(manifest, () -> packages.files(manifest)))
        : Optional.empty();
  }
}
