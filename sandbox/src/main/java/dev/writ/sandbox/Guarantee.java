package dev.writ.sandbox;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;
import java.util.Locale;

/** A guarantee that an engine gives or does not give on a host, named by {@link #text()}. */
public enum Guarantee {
  NAMESPACES("own mount, pid, ipc, uts and network namespaces", Need.ALWAYS),
  READ_ONLY_ROOT("the root is read-only, and holds only what the profile names", Need.ALWAYS),
  NO_CAPABILITIES("no capability, and no way to gain privileges", Need.ALWAYS),
  NO_NEW_USERNS("no new user namespaces", Need.ALWAYS),
  SECCOMP("system calls by allow-list", Need.ALWAYS),
  DISTINCT_UID("a host user id of its own for each running sandbox", Need.UNLESS_WAIVED),
  MEMORY_LIMIT("memory and swap of the whole tree", Need.UNLESS_WAIVED),
  PIDS_LIMIT("processes of the whole tree", Need.UNLESS_WAIVED),
  CPU_LIMIT("share of processors, and processor time of the whole tree", Need.UNLESS_WAIVED),
  MEASURED("processor time and peak memory as the kernel counts them", Need.UNLESS_WAIVED),
  DISK_LIMIT("size of the workspace", Need.UNLESS_WAIVED),
  TMP_NOEXEC(
      "no program runs from /tmp, nor from the workspace where executables are listed",
      Need.UNLESS_WAIVED),
  LANDLOCK("Landlock in the kernel", Need.NEVER),
  APPARMOR("AppArmor in the kernel", Need.NEVER);

  /** Whether a sandbox may lack it. */
  private enum Need {
    ALWAYS,
    UNLESS_WAIVED,
    NEVER
  }

  private final String meaning;
  private final Need need;

  Guarantee(String meaning, Need need) {
    this.meaning = meaning;
    this.need = need;
  }

  /**
   * A waivable guarantee by its name.
   *
   * @throws WritException {@code SBX-003} for any other name
   */
  public static Guarantee waivable(String name) {
    for (Guarantee one : values()) {
      if (one.waivable() && one.text().equals(name)) {
        return one;
      }
    }
    throw new WritException(
        SandboxError.NOT_ENFORCED, "\"" + name + "\" is nothing that can be waived");
  }

  public String meaning() {
    return meaning;
  }

  /** Whether a sandbox is refused if this is neither given nor waived. */
  public boolean required() {
    return need != Need.NEVER;
  }

  /** Whether a caller can waive it; guarantees that confine a program cannot be waived. */
  public boolean waivable() {
    return need == Need.UNLESS_WAIVED;
  }

  /** The stable word: {@code memory-limit}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
