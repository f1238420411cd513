package dev.writ.gateway.pipeline;

import dev.writ.guardian.document.ToolManifest;
import dev.writ.guardian.document.ToolRef;
import dev.writ.tools.author.Language;
import dev.writ.tools.author.ResourceClass;
import dev.writ.tools.author.ToolSource;
import java.util.Optional;

/** The registered tools as this surface needs them. */
@FunctionalInterface
public interface ToolPackages {

  /** The manifest of that package, where it is registered. */
  Optional<ToolManifest> manifest(ToolRef tool);

  /**
   * Whether it is a package from a publisher: it contains its {@code tool.manifest}, and a driver
   * of its language runs it. Built-in tools that take source code as their input ({@code js},
   * {@code sql}, {@code exec}, …) have neither.
   */
  static boolean isPackage(ToolManifest manifest) {
    return Language.ALL.stream().anyMatch(language -> language.text().equals(manifest.driver()))
        && manifest.files().stream().anyMatch(file -> file.path().equals(ToolSource.FILE));
  }

  /** The smallest class that covers the tool's maximum of resources. */
  static ResourceClass ownClass(ToolManifest manifest) {
    return ResourceClass.ALL.stream()
        .filter(resourceClass -> manifest.resourcesMax().isWithin(resourceClass.ceiling()))
        .findFirst()
        .orElse(ResourceClass.ALL.getLast());
  }
}
