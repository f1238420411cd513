package dev.writ.sandbox.docker;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Where the socket of a service is looked for. */
public final class Sockets {
  private Sockets() {}

  /**
   * Those that are there, the first choice first: what the environment names, and the places of
   * docker and podman. An address that is no Unix socket is passed over: over a network, what a
   * service says of its processes could not be checked.
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
