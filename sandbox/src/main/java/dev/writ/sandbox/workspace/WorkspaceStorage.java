package dev.writ.sandbox.workspace;

/** Where the files of a run are. */
public enum WorkspaceStorage {
  /**
   * A tmpfs of the stated size: fast, lost at a reboot, counted as memory of the process that
   * writes.
   */
  MEMORY,
  /** An ext4 of the stated size in a sparse file, mounted by a loop device. */
  DISK,
  /** A plain directory without a size limit, used if this process may not mount. */
  DIRECTORY
}
