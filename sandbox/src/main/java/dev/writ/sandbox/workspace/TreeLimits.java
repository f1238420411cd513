package dev.writ.sandbox.workspace;

/**
 * Limits for reading a tree or an archive.
 *
 * @param entries files, directories and links
 * @param bytes of all files together
 * @param depth directories above a file
 */
public record TreeLimits(long entries, long bytes, int depth) {
  public static final TreeLimits STANDARD = new TreeLimits(100_000, 4L << 30, 64);

  /** The same, with no more bytes than these. */
  TreeLimits within(long most) {
    return new TreeLimits(entries, Math.min(bytes, most), depth);
  }
}
