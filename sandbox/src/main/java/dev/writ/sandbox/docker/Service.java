package dev.writ.sandbox.docker;

import java.util.List;

/**
 * The service behind a socket.
 *
 * @param podman whether it is podman, which takes some options in another form
 * @param version of the program
 * @param api version of the interface
 * @param security options that it applies, such as {@code seccomp}, {@code apparmor}, {@code
 *     rootless}, {@code userns}
 * @param memory whether it limits memory
 * @param pids whether it limits processes
 * @param cpu whether it limits the share of processors
 */
public record Service(
    boolean podman,
    String version,
    String api,
    List<String> security,
    boolean memory,
    boolean pids,
    boolean cpu) {
  public Service {
    security = List.copyOf(security);
  }

  /** Whether user ids in a container are those of the host. */
  public boolean idsAreTheHosts() {
    return !security.contains("rootless") && !security.contains("userns");
  }
}
