package dev.writ.sandbox.workspace;

import java.io.IOException;

/** Whether a failure is that of a disk, or of a quota, that has no room left. */
public final class FullDisk {
  private FullDisk() {}

  /** Looks at the failure and at its cause. */
  public static boolean is(Exception e) {
    String words = String.valueOf(e.getMessage());
    return e instanceof IOException
        ? words.contains("No space left on device") || words.contains("Disk quota exceeded")
        : e.getCause() instanceof IOException cause && is(cause);
  }
}
