package dev.writ.sandbox.host;

import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Set;

/**
 * Makes files and directories with exactly the given permissions, whatever the umask: other users
 * of the host must not read or enter more of a state directory than they need.
 */
public final class Modes {
  /** For root alone. */
  public static final String PRIVATE = "rwx------";

  /** Others may traverse it but not list it. */
  public static final String PASSABLE = "rwx--x--x";

  /** One group may traverse it, and nobody else. */
  public static final String PASSABLE_FOR_GROUP = "rwx--x---";

  /** Everybody may read it, and nobody else may write. */
  public static final String READABLE = "rwxr-xr-x";

  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private Modes() {}

  /**
   * Makes a directory, which never has wider permissions than these.
   *
   * @throws FileAlreadyExistsException where something is there
   */
  public static void makeDirectory(Path path, String permissions) throws IOException {
    var exact = PosixFilePermissions.fromString(permissions);
    Files.createDirectory(path, PosixFilePermissions.asFileAttribute(exact));
    Files.setPosixFilePermissions(path, exact);
  }

  /** Makes a directory if there is none; an existing one gets the permissions. */
  public static void ensureDirectory(Path path, String permissions) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    } else {
      makeDirectory(path, permissions);
    }
  }

  /** Lets one sandbox's user, and no other user of the host, traverse a directory of ours. */
  public static void letPass(Path directory, long uid) throws IOException {
    Owners.giveGroup(directory, uid);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(PASSABLE_FOR_GROUP));
  }

  /** Writes a file that only its owner may read; an existing one is emptied first. */
  public static void writePrivate(Path file, byte[] bytes) throws IOException {
    ensurePrivateFile(file);
    Files.write(file, bytes, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
  }

  /** Makes an empty file that only its owner may read; an existing one keeps its content. */
  public static void ensurePrivateFile(Path file) throws IOException {
    try {
      Files.createFile(file, PosixFilePermissions.asFileAttribute(FILE));
    } catch (FileAlreadyExistsException e) {
      Files.setPosixFilePermissions(file, FILE);
    }
  }
}
