package dev.writ.sandbox;

import java.util.Locale;

/**
 * Why a process ended. The order is that of precedence: where several hold, the first is the reason
 * and {@link Ended#reached} has all.
 */
public enum EndReason {
  /** The caller cancelled it. */
  CANCELLED,
  /** It took longer than its wall time. */
  TIMED_OUT,
  /** It wrote more output than it may. */
  OUTPUT_LIMIT,
  /** It used more processor time than it may. */
  CPU_LIMIT,
  /** The kernel killed at least one of its processes for memory, whatever the first exited with. */
  OUT_OF_MEMORY,
  /** A system call that no program here has a use for; the kernel ended the process by SIGSYS. */
  SECCOMP_VIOLATION,
  /** It failed, and a fork had been refused. */
  PIDS_LIMIT,
  /** It failed, and a file was too large, or the workspace was full. */
  DISK_LIMIT,
  /** It failed, and the proxy had refused a connection. */
  EGRESS_DENIED,
  /** A signal ended it. */
  SIGNALLED,
  /** It exited by itself, with a code. */
  EXITED;

  /** The stable word for receipts: {@code out-of-memory}. */
  public String text() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
