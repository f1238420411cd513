package dev.writ.sandbox.engine;

import dev.writ.sandbox.Command;
import dev.writ.sandbox.ImageReference;
import dev.writ.sandbox.Profile;
import dev.writ.sandbox.cgroup.Cgroup;
import dev.writ.sandbox.host.Host;
import dev.writ.sandbox.seccomp.SystemCalls;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * All data that an engine needs to start one command.
 *
 * @param directory private directory of this command, for scripts and the like
 * @param state the directory that all commands share
 * @param uid user id on the host; the root of a user namespace has the next one
 * @param containerId unique on the host
 * @param proxySocket socket of the egress proxy; absent for no network
 * @param feeds whether the command has a stdin, now or later
 * @param image the image that programs see instead of the host's files
 * @param engine name and version of the engine
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
   * Features that a command or sandbox needs and that not every engine has.
   *
   * @param executables whether the command lists its executables
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

  /** Whether a command may run programs that it brings along; not if executables are listed. */
  static boolean runsOwn(Profile profile, Command command) {
    return command.executables().isEmpty() && !profile.executablesListed();
  }

  /** The same for programs in {@code /tmp} and {@code /dev/shm}. */
  static boolean runsFromTmp(Profile profile, Command command) {
    return profile.tmpExec() && runsOwn(profile, command);
  }

  boolean runsFromTmp() {
    return runsFromTmp(profile, command);
  }

  /** Which system calls are there. */
  SystemCalls.Rules rules() {
    return runsOwn(profile, command) ? SystemCalls.Rules.OPEN : SystemCalls.Rules.LISTED;
  }

  /**
   * Too small for a core file. Not 0: with that value the kernel would pass the memory of a crashed
   * program to a core handler of the host (core(5)).
   */
  static final long CORE_BYTES = 1;

  /**
   * Pseudo-terminals of one command; the host has 4,096 for all, and there may be a thousand
   * sandboxes.
   */
  static final int TERMINALS = 4;

  /**
   * The memory of sockets at which the command is ended, if the kernel counts it separately: an
   * eighth of its memory. From a sixteenth on the kernel slows TCP down.
   */
  long socketBytesMost() {
    return command.limits().memoryBytes() / 8;
  }

  /** Seconds of processor time after which the kernel ends each process. */
  long backstopS() {
    return command.limits().cpuMs() / 1_000 + 2;
  }

  /** The user and group id that programs see. */
  static final int INSIDE = 65_534;

  Path statusFile() {
    return directory.resolve("status");
  }
}
