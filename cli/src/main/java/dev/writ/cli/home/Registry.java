package dev.writ.cli.home;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.ToolRegistry;
import java.util.Optional;

/** The tool registry as the kernel asks it. */
final class Registry implements Tools.Registry {
  private final ToolRegistry registry;

  Registry(ToolRegistry registry) {
    this.registry = registry;
  }

  /** Empty for what is not there; a package that is broken throws. */
  @Override
  public Optional<ToolManifest> manifest(String name, String version) {
    try {
      return Optional.of(registry.resolve(name, version).manifest());
    } catch (WritException e) {
      if (e.code() == ToolsError.TOOL_UNKNOWN || e.code() == ToolsError.TOOL_NAME) {
        return Optional.empty();
      }
      throw e;
    }
  }

  @Override
  public Driver.PackageContent content(ToolManifest manifest) {
    return registry
        .resolve(manifest.name(), manifest.version(), manifest.packageDigest())
        .content();
  }
}
