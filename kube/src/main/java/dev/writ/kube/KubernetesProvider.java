package dev.writ.kube;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.EngineProvider;
import dev.writ.sandbox.RemoteEngine;
import dev.writ.sandbox.error.SandboxError;
import java.nio.file.Path;
import java.util.Map;

/**
 * Offers the engine {@code kubernetes}, configured by the file that {@code WRIT_KUBERNETES} names.
 */
public final class KubernetesProvider implements EngineProvider {

  @Override
  public String name() {
    return KubernetesEngine.NAME;
  }

  @Override
  public RemoteEngine.Opener configure(Map<String, String> environment) {
    String file = environment.getOrDefault("WRIT_KUBERNETES", "");
    return KubernetesEngine.opener(() -> settings(file), environment);
  }

  private static KubernetesSettings settings(String file) {
    if (file.isEmpty()) {
      throw new WritException(
          SandboxError.CLUSTER, "WRIT_KUBERNETES names no file (spec/sandbox-kubernetes.md)");
    }
    return KubernetesSettings.read(Path.of(file));
  }
}
