package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.RegisteredTool;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.verify.bundle.BundleExport;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/** The tools of an installation, for the kernel and for exports. */
public final class InstalledTools implements Tools.Registry, BundleExport.Packages {
  private final ToolRegistry registry;
  private final List<ToolManifest> own;

  /**
   * @param own tools that are in no registry; they hide registered tools of the same name and
   *     version
   */
  public InstalledTools(ToolRegistry registry, List<ToolManifest> own) {
    this.registry = registry;
    this.own = own;
  }

  /** All tools of a home that can be called, read from its files. */
  public static List<ToolManifest> of(Home home) {
    return new InstalledTools(ToolRegistry.open(home.tools()), List.of()).all();
  }

  List<ToolManifest> all() {
    return Stream.concat(
            own.stream(),
            registry.tools().stream()
                .map(RegisteredTool::manifest)
                .filter(m -> own(m.name(), m.version()).isEmpty()))
        .toList();
  }

  private Optional<ToolManifest> own(String name, String version) {
    return own.stream()
        .filter(m -> m.name().equals(name) && m.version().equals(version))
        .findFirst();
  }

  /** Empty for an unknown tool; throws for a broken package. */
  @Override
  public Optional<ToolManifest> manifest(String name, String version) {
    Optional<ToolManifest> brought = own(name, version);
    if (brought.isPresent()) {
      return brought;
    }
    return ifKnown(() -> registry.resolve(name, version).manifest());
  }

  /** The tool with exactly this package; throws if its name and version have another package. */
  @Override
  public Optional<ToolManifest> manifest(ToolRef tool) {
    Optional<ToolManifest> brought = own.stream().filter(m -> m.ref().equals(tool)).findFirst();
    return brought.isPresent()
        ? brought
        : ifKnown(
            () -> registry.resolve(tool.name(), tool.version(), tool.packageDigest()).manifest());
  }

  private static Optional<ToolManifest> ifKnown(Supplier<ToolManifest> looked) {
    try {
      return Optional.of(looked.get());
    } catch (WritException e) {
      if (e.code() == ToolsError.TOOL_UNKNOWN || e.code() == ToolsError.TOOL_NAME) {
        return Optional.empty();
      }
      throw e;
    }
  }

  @Override
  public Driver.PackageContent content(ToolManifest manifest) {
    if (own.contains(manifest)) {
      return file -> {
        throw new WritException(
            ToolsError.PACKAGE_FILES, manifest.name() + " has no " + file.path());
      };
    }
    return registry
        .resolve(manifest.name(), manifest.version(), manifest.packageDigest())
        .content();
  }

  @Override
  public Driver.PackageContent files(ToolManifest manifest) {
    return content(manifest);
  }
}
