package dev.writ.sandbox.host;

import dev.writ.sandbox.cgroup.Cgroups;
import dev.writ.sandbox.seccomp.Architecture;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The properties of this machine.
 *
 * @param root whether we may mount, change owners and make cgroups
 * @param uid of this process
 * @param uncountedMemory kinds of memory that the kernel was told not to count; empty for none
 * @param landlock version of the kernel's Landlock; 0 if there is none
 * @param apparmor whether the kernel has AppArmor switched on
 */
public record Host(
    boolean root,
    long uid,
    long gid,
    Architecture architecture,
    Cgroups cgroups,
    String uncountedMemory,
    int landlock,
    boolean apparmor) {

  public static Host look() {
    long uid = ownId("Uid:");
    Cgroups cgroups = Cgroups.detect();
    return new Host(
        uid == 0,
        uid,
        ownId("Gid:"),
        Architecture.of(System.getProperty("os.arch")),
        cgroups,
        Cgroups.uncounted(read(Path.of("/proc/cmdline")), cgroups.version() == 2),
        Landlock.version(),
        read(Path.of("/sys/module/apparmor/parameters/enabled")).startsWith("Y"));
  }

  /** Whether the kernel passes the memory of crashed programs to a program of the host. */
  public boolean pipesCores() {
    return read(Path.of("/proc/sys/kernel/core_pattern")).startsWith("|");
  }

  private static long ownId(String key) {
    for (String line : read(Path.of("/proc/self/status")).split("\n")) {
      if (line.startsWith(key)) {
        return Long.parseLong(line.split("\\s+")[2]); // the effective one
      }
    }
    return -1;
  }

  private static String read(Path file) {
    try {
      return Files.readString(file, StandardCharsets.UTF_8);
    } catch (IOException e) {
      return "";
    }
  }
}
