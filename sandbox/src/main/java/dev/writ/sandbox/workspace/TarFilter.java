package dev.writ.sandbox.workspace;

/** What stands in an archive for what is in a tree; either may throw, and then there is none. */
public interface TarFilter {
  /** The bytes for those of a file. */
  byte[] content(byte[] bytes);

  /** Looks at a name, or at the target of a link. */
  void name(byte[] bytes);
}
