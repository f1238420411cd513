package dev.writ.sandbox.engine;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.cgroup.Cgroup;
import dev.writ.sandbox.host.Host;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * Everything that an engine needs to know to start one command.
 *
 * @param directory of this run, for scripts and the like; only ours
 * @param state what all runs share
 * @param uid on the host, and of the root of a user namespace the one after it
 * @param containerId unique on the host
 * @param proxySocket of the egress proxy; without one there is no network
 * @param feeds whether the command has a stdin, now or later
 * @param image what programs see instead of the host's files
 * @param engine name and version of what confines it
 */
record Confinement(
    Host host,
    StateDirectory state,
    Path directory,
    long uid,
    String containerId,
    Profile profile,
    Command command,
    List<Mounted> view,
    SortedMap<String, String> environment,
    Optional<Cgroup> cgroup,
    Optional<Path> proxySocket,
    boolean feeds,
    Optional<ImageReference> image,
    String engine) {

  /**
   * What a command or a sandbox asks of an engine beyond what all of them do.
   *
   * @param executables whether it lists those that exist
   */
  record Wanted(boolean image, boolean executables, boolean reproducible, boolean egress) {
    static Wanted of(Optional<ImageReference> image, Command command) {
      return new Wanted(
          image.isPresent(),
          command.executables().isPresent(),
          command.reproducible().isPresent(),
          !command.egress().isEmpty());
    }
  }

  /** The user and group id that programs see. */
  static final int INSIDE = 65_534;

  Path statusFile() {
    return directory.resolve("status");
  }
}
