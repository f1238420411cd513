package dev.writ.sandbox.workspace;

/** Replaces content for an archive; if either method throws no archive is made. */
public interface TarFilter {
  /** The bytes that stand in the archive for the bytes of a file. */
  byte[] content(byte[] bytes);

  /** Checks a name, or the target of a link. */
  void name(byte[] bytes);
}
