package dev.writ.cli.doctor;

import dev.writ.canonicalize.disk.DurableFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.GroupPrincipal;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;

/**
 * One change to one path that makes a finding go away. It follows no link at its end, changes no
 * content, and may be done again.
 *
 * @param text the same as a command of the shell
 */
public record Mend(String text, Work work) {
  /** Does it. */
  @FunctionalInterface
  public interface Work {
    /**
     * @throws IOException where it could not be done; what is there is as it was
     */
    void run() throws IOException;
  }

  /** What still holds when a mend is done, for what may have changed since it was planned. */
  @FunctionalInterface
  interface Still {
    boolean holds() throws IOException;
  }

  /**
   * Another mode.
   *
   * @param permissions as {@code rw-------}
   */
  static Mend mode(Path path, String permissions) {
    int bits = 0;
    for (char letter : permissions.toCharArray()) {
      bits = bits << 1 | (letter == '-' ? 0 : 1);
    }
    return new Mend(
        "chmod " + Integer.toOctalString(bits) + " " + path,
        () -> view(path).setPermissions(PosixFilePermissions.fromString(permissions)));
  }

  /** Another owner and group, which root alone can give. */
  static Mend owner(Path path, UserPrincipal owner, GroupPrincipal group) {
    return new Mend(
        "chown -h " + owner.getName() + ":" + group.getName() + " " + path,
        () -> {
          view(path).setOwner(owner);
          view(path).setGroup(group);
        });
  }

  /** A folder that its owner alone can enter. */
  static Mend folder(Path path) {
    return new Mend("mkdir -m 700 " + path, () -> DurableFiles.REAL.createDirectory(path));
  }

  /** A new file; one that is there by then is left. */
  public static Mend file(Path path, byte[] content) {
    return new Mend(
        "write " + path,
        () -> {
          Files.createDirectories(path.getParent());
          if (!Files.exists(path, LinkOption.NOFOLLOW_LINKS)) {
            Files.write(path, content);
          }
        });
  }

  /** A file or folder that nobody needs, if it is one that nobody needs still. */
  static Mend remove(Path path, Still still) {
    boolean folder = Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS);
    return new Mend(
        (folder ? "rm -r " : "rm ") + path,
        () -> {
          try {
            if (still.holds()) {
              DurableFiles.deleteTree(path);
            }
          } catch (NoSuchFileException e) {
            // Somebody else has removed it.
          }
        });
  }

  private static PosixFileAttributeView view(Path path) {
    return Files.getFileAttributeView(
        path, PosixFileAttributeView.class, LinkOption.NOFOLLOW_LINKS);
  }
}
