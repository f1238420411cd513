package dev.writ.canonicalize.disk;

import java.io.IOException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;

/** A directory in which nobody but one user and root can put, replace or rename anything. */
public final class PrivateDirectory {
  private static final Path SELF = Path.of("/proc/self");
  private static final int STICKY = 0_1000;

  private PrivateDirectory() {}

  /** The user that this process runs as. */
  public static UserPrincipal self() throws IOException {
    return Files.exists(SELF)
        ? Files.getOwner(SELF)
        : SELF.getFileSystem()
            .getUserPrincipalLookupService()
            .lookupPrincipalByName(System.getProperty("user.name"));
  }

  /** Whether it is a directory, no link, of this user, and no other user may write into it. */
  public static boolean isOf(UserPrincipal user, Path directory) throws IOException {
    PosixFileAttributes found =
        Files.readAttributes(directory, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
    return found.isDirectory()
        && found.owner().equals(user)
        && !found.permissions().contains(PosixFilePermission.GROUP_WRITE)
        && !found.permissions().contains(PosixFilePermission.OTHERS_WRITE);
  }

  /**
   * Makes it with mode 0700 where it is missing, and the missing ones above it.
   *
   * @return its path without links
   * @throws FileSystemException where it is not this user's or cannot be written, or another user
   *     could replace it or one above it
   */
  public static Path require(Path directory, UserPrincipal user) throws IOException {
    if (!Files.isDirectory(directory)) {
      // Not refused where another process makes it at the same time.
      Files.createDirectories(
          directory,
          PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    }
    if (!isOf(user, directory)) {
      throw new FileSystemException(directory.toString(), null, "a link, or open to another user");
    }
    DurableFiles.restrict(directory);
    Path real = directory.toRealPath();
    for (Path above = real.getParent(); above != null; above = above.getParent()) {
      requireNoRenaming(above, user);
    }
    if (!Files.isWritable(real)) {
      throw new FileSystemException(real.toString(), null, "cannot be written");
    }
    return real;
  }

  /**
   * Requires that no other user can rename what is in a directory: that takes write permission,
   * unless it is sticky.
   */
  private static void requireNoRenaming(Path directory, UserPrincipal user) throws IOException {
    PosixFileAttributes found = Files.readAttributes(directory, PosixFileAttributes.class);
    boolean sticky = ((int) Files.getAttribute(directory, "unix:mode") & STICKY) != 0;
    // A group of a user's name is that user's own and has no other member (Debian's convention).
    String group = found.group().getName();
    boolean ownGroup = group.equals(found.owner().getName()) || group.equals(user.getName());
    boolean others =
        found.permissions().contains(PosixFilePermission.OTHERS_WRITE)
            || (found.permissions().contains(PosixFilePermission.GROUP_WRITE) && !ownGroup);
    boolean trusted = found.owner().equals(user) || found.owner().getName().equals("root");
    if (!trusted || (others && !sticky)) {
      throw new FileSystemException(directory.toString(), null, "another user may write there");
    }
  }
}
