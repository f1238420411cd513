package dev.writ.conform.world;

import dev.writ.canonicalize.StrictBase64;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.json.Fields;
import dev.writ.conform.ConformError;
import dev.writ.executor.driver.Driver;
import dev.writ.executor.stage.Tools;
import dev.writ.guardian.document.ToolManifest;
import java.util.Optional;
import java.util.TreeMap;

/** The tools of a scenario: what the registry holds, and the files of its packages. */
final class ScriptedTools implements Tools.Registry {
  private final TreeMap<String, ToolManifest> manifests = new TreeMap<>();
  private final TreeMap<String, byte[]> files = new TreeMap<>();

  /** Puts a tool there, or in the place of another of its name and version. */
  synchronized void register(Fields tool) {
    ToolManifest manifest = ToolManifest.read(tool.value("manifest"));
    if (tool.has("files")) {
      Fields content = tool.fields("files");
      for (ToolManifest.PackageFile file : manifest.files()) {
        content(
            manifest, file.path(), StrictBase64.decode(file.path(), content.string(file.path())));
      }
      content.end();
    }
    tool.end();
    manifests.put(name(manifest.name(), manifest.version()), manifest);
  }

  synchronized void content(ToolManifest manifest, String path, byte[] bytes) {
    files.put(name(manifest.name(), manifest.version()) + " " + path, bytes);
  }

  synchronized void remove(String name, String version) {
    manifests.remove(name(name, version));
  }

  /** The package's files from now on hold something else than the manifest names. */
  synchronized void corrupt(String name, String version) {
    ToolManifest manifest =
        manifest(name, version)
            .orElseThrow(() -> new WritException(ConformError.SCENARIO, "no tool " + name));
    manifest.files().forEach(file -> content(manifest, file.path(), new byte[] {1}));
  }

  private static String name(String name, String version) {
    return name + " " + version;
  }

  @Override
  public synchronized Optional<ToolManifest> manifest(String name, String version) {
    return Optional.ofNullable(manifests.get(name(name, version)));
  }

  @Override
  public Driver.PackageContent content(ToolManifest manifest) {
    return file -> {
      synchronized (this) {
        return files.get(name(manifest.name(), manifest.version()) + " " + file.path()).clone();
      }
    };
  }
}
