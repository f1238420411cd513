package dev.writ.sandbox.remote;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.EngineProvider;
import dev.writ.sandbox.RemoteEngine;
import dev.writ.sandbox.error.SandboxError;
import java.nio.file.Path;
import java.util.Map;

/**
 * Offers the engine {@code docker-remote}, configured by the file that {@code WRIT_DOCKER_REMOTE}
 * names.
 */
public final class RemoteDockerProvider implements EngineProvider {

  @Override
  public String name() {
    return RemoteDockerEngine.NAME;
  }

  @Override
  public RemoteEngine.Opener configure(Map<String, String> environment) {
    String file = environment.getOrDefault("WRIT_DOCKER_REMOTE", "");
    return RemoteDockerEngine.opener(() -> settings(file));
  }

  private static RemoteDockerSettings settings(String file) {
    if (file.isEmpty()) {
      throw new WritException(SandboxError.SERVICE_SETTINGS, "WRIT_DOCKER_REMOTE names no file");
    }
    return RemoteDockerSettings.read(Path.of(file));
  }
}
