package dev.writ.sandbox.docker;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The places of a service's socket. */
public final class Sockets {
  private Sockets() {}

  /**
   * The existing sockets in order of preference: those that the environment names, then the usual
   * places of docker and podman. An address that is no Unix socket is ignored: what a service
   * reports about its processes could not be checked over a network.
   */
  public static List<Path> look(Map<String, String> environment) {
    List<Path> candidates = new ArrayList<>();
    for (String name : List.of("DOCKER_HOST", "CONTAINER_HOST")) {
      String value = environment.getOrDefault(name, "");
      if (value.startsWith("unix:///")) {
        candidates.add(Path.of(value.substring("unix://".length())));
      }
    }
    candidates.add(Path.of("/run/docker.sock"));
    candidates.add(Path.of("/run/podman/podman.sock"));
    String runtime = environment.getOrDefault("XDG_RUNTIME_DIR", "");
    if (runtime.startsWith("/")) {
      candidates.add(Path.of(runtime, "podman/podman.sock"));
    }
    return candidates.stream().filter(Files::exists).distinct().toList();
  }
}
