package dev.writ.sandbox;

import java.util.Locale;

/** What an engine holds or does not hold on a host: what policy can waive, by {@link #text()}. */
public enum Guarantee {
  NAMESPACES("own mount, pid, ipc, uts and network namespaces", true),
  READ_ONLY_ROOT("the root is read-only, and holds only what the profile names", true),
  NO_CAPABILITIES("no capability, and no way to gain privileges", true),
  NO_NEW_USERNS("no new user namespaces", true),
  SECCOMP("system calls by allow-list", true),
  DISTINCT_UID("a host user id of its own for each running sandbox", true),
  MEMORY_LIMIT("memory and swap of the whole tree", true),
  PIDS_LIMIT("processes of the whole tree", true),
  CPU_LIMIT("share of processors, and processor time of the whole tree", true),
  MEASURED("processor time and peak memory as the kernel counts them", true),
  DISK_LIMIT("size of the workspace", true),
  TMP_NOEXEC("no program runs from /tmp, nor from the workspace where executables are listed", true),
  LANDLOCK("Landlock in the kernel", false),
  APPARMOR("AppArmor in the kernel", false);

  private final String meaning;
  private final boolean required;

  Guarantee(String meaning, boolean required) {
    this.meaning = meaning;
    this.required = required;
  }

  public String meaning() {
    return meaning;
  }

  /** Whether a sandbox is refused where this does not hold and is not waived. */
  public boolean required() {
    return required;
  }

  /** The stable word: {@code memory-limit}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
