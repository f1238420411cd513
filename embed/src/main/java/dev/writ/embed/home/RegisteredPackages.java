package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.executor.driver.Driver;
import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.tools.error.ToolsError;
import dev.writ.tools.registry.RegisteredTool;
import dev.writ.tools.registry.ToolRegistry;
import dev.writ.verify.bundle.BundleExport;
import java.util.List;
import java.util.Optional;

/**
 * The packages of a registry, by their digest, as an export takes them.
 *
 * @param own tools that lie in no registry, and have no files
 */
public record RegisteredPackages(ToolRegistry registry, List<ToolManifest> own)
    implements BundleExport.Packages {
  @Override
  public Optional<ToolManifest> manifest(ToolRef tool) {
    Optional<ToolManifest> brought = own.stream().filter(m -> m.ref().equals(tool)).findFirst();
    if (brought.isPresent()) {
      return brought;
    }
    try {
      return Optional.of(resolve(tool).manifest());
    } catch (WritException e) {
      if (e.code() == ToolsError.TOOL_UNKNOWN || e.code() == ToolsError.TOOL_NAME) {
        return Optional.empty();
      }
      throw e;
    }
  }

  @Override
  public Driver.PackageContent files(ToolManifest manifest) {
    return own.contains(manifest)
        ? file -> {
          throw new WritException(ToolsError.PACKAGE_FILES, manifest + " has no " + file.path());
        }
        : resolve(manifest.ref()).content();
  }

  private RegisteredTool resolve(ToolRef tool) {
    return registry.resolve(tool.name(), tool.version(), tool.packageDigest());
  }
}
