package dev.writ.sandbox.workspace;

/** Where the files of a run are. */
public enum Storage {
  /** A tmpfs of the stated size: fast, gone after a reboot, counted as memory of who writes. */
  MEMORY,
  /** An ext4 of the stated size in a sparse file, mounted by a loop device. */
  DISK,
  /** A plain directory, whose size nobody limits: where we may not mount. */
  DIRECTORY
}
