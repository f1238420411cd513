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

  /** Whether programs may run that a command brings along: none that is listed is there. */
  static boolean runsOwn(Profile profile, Command command) {
    return command.executables().isEmpty() && !profile.executablesListed();
  }

  /** The same of {@code /tmp} and {@code /dev/shm}. */
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
   * Too little for a core file, and the one value at which the kernel does not hand the memory of a
   * program that crashed to a program of the host either: with 0 it would (core(5)).
   */
  static final long CORE_BYTES = 1;

  /** Pseudo-terminals at once: the host has 4,096 for all, and a thousand sandboxes. */
  static final int TERMINALS = 4;

  /**
   * What sockets may hold until the command is ended, where the kernel counts that apart: an eighth
   * of its memory. Below, from the sixteenth on that is theirs, the kernel slows TCP down.
   */
  long socketBytesMost() {
    return command.limits().memoryBytes() / 8;
  }

  /** Seconds of processor time at which the kernel ends each process by itself. */
  long backstopS() {
    return command.limits().cpuMs() / 1_000 + 2;
  }

  /** The user and group id that programs see. */
  static final int INSIDE = 65_534;

  Path statusFile() {
    return directory.resolve("status");
  }
}
