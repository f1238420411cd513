package dev.writ.sandbox.seccomp;

import dev.writ.canonicalize.WritException;
import dev.writ.sandbox.error.SandboxError;

/** A processor architecture that filters are compiled for. Linux: {@code linux/audit.h}. */
public enum Architecture {
  X86_64("amd64", 0xC000003E, 1, "SCMP_ARCH_X86_64", "x86_64-linux-gnu"),
  AARCH64("aarch64", 0xC00000B7, 2, "SCMP_ARCH_AARCH64", "aarch64-linux-gnu");

  private final String javaName;
  private final int audit;
  private final int column;
  private final String oci;
  private final String triplet;

  Architecture(String javaName, int audit, int column, String oci, String triplet) {
    this.javaName = javaName;
    this.audit = audit;
    this.column = column;
    this.oci = oci;
    this.triplet = triplet;
  }

  /** The kernel's number for it, {@code AUDIT_ARCH_*}. */
  public int audit() {
    return audit;
  }

  /** Its column in the table of system calls. */
  int column() {
    return column;
  }

  /** Its name in OCI documents. */
  public String oci() {
    return oci;
  }

  /** Its directory of libraries on Debian. */
  public String triplet() {
    return triplet;
  }

  /**
   * @param javaName the system property {@code os.arch}
   * @throws WritException {@code SBX-007} for one that there is no table for
   */
  public static Architecture of(String javaName) {
    for (Architecture one : values()) {
      if (one.javaName.equals(javaName)) {
        return one;
      }
    }
    throw new WritException(
        SandboxError.HOST, "no table of system calls for the architecture " + javaName);
  }
}
