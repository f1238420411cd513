package dev.writ.sandbox;

import java.util.Locale;

/**
 * Why a process ended, in order of precedence: if several apply, the first is the reason, and
 * {@link Ended#reached} lists all.
 */
public enum EndReason {
  /** The caller cancelled it. */
  CANCELLED,
  /** It took longer than its wall time. */
  TIMED_OUT,
  /** It wrote more output than allowed. */
  OUTPUT_LIMIT,
  /** It used more processor time than allowed. */
  CPU_LIMIT,
  /**
   * The kernel killed at least one of its processes for memory, whatever the first one exited with.
   */
  OUT_OF_MEMORY,
  /** It used a system call that no program needs here; the kernel ended the process by SIGSYS. */
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
