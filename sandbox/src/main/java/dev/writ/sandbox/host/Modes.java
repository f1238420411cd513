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
 * Makes files and directories with exactly the permissions that are asked for, whatever the umask:
 * other users of the host may read and enter nothing below a state directory but what they must.
 */
public final class Modes {
  /** For root alone. */
  public static final String PRIVATE = "rwx------";

  /** Others may pass through it and not list it. */
  public static final String PASSABLE = "rwx--x--x";

  /** One group may pass through it, and nobody else. */
  public static final String PASSABLE_FOR_GROUP = "rwx--x---";

  /** Everybody may read it, and nobody else write. */
  public static final String READABLE = "rwxr-xr-x";

  private static final Set<PosixFilePermission> FILE = PosixFilePermissions.fromString("rw-------");

  private Modes() {}

  /**
   * Makes a directory, which was never open wider.
   *
   * @throws FileAlreadyExistsException where something is there
   */
  public static void makeDirectory(Path path, String permissions) throws IOException {
    var exact = PosixFilePermissions.fromString(permissions);
    Files.createDirectory(path, PosixFilePermissions.asFileAttribute(exact));
    Files.setPosixFilePermissions(path, exact);
  }

  /** Makes a directory where there is none; one that is there gets the permissions. */
  public static void ensureDirectory(Path path, String permissions) throws IOException {
    if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(permissions));
    } else {
      makeDirectory(path, permissions);
    }
  }

  /** Lets one sandbox's user pass through a directory of ours, and no other user of the host. */
  public static void letPass(Path directory, long uid) throws IOException {
    Owners.giveGroup(directory, uid);
    Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString(PASSABLE_FOR_GROUP));
  }

  /** Writes a file that its owner alone may read; one that is there is emptied first. */
  public static void writePrivate(Path file, byte[] bytes) throws IOException {
    ensurePrivateFile(file);
    Files.write(file, bytes, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING);
  }

  /** Makes an empty file that its owner alone may read; one that is there keeps what it has. */
  public static void ensurePrivateFile(Path file) throws IOException {
    try {
      Files.createFile(file, PosixFilePermissions.asFileAttribute(FILE));
    } catch (FileAlreadyExistsException e) {
      Files.setPosixFilePermissions(file, FILE);
    }
  }
}
