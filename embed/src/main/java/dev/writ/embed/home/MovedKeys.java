package dev.writ.embed.home;

import dev.writ.canonicalize.CanonicalizeError;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.KeyFiles;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.Trust;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.embed.error.EmbedError;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Moves the private keys of people and agents out of a home (spec/keys.md, 24): copied and read
 * back, then looked for in the new place, then removed. A crash at any point leaves each key whole
 * in at least one place in which it is looked for; a second call completes the first.
 *
 * @param moved names of keys that are in the folder now, and no longer in the home
 * @param stayed names of keys that are in the home, beside the kernel's own, each with why
 */
public record MovedKeys(Path folder, List<String> moved, List<String> stayed) {
  public MovedKeys {
    moved = List.copyOf(moved);
    stayed = List.copyOf(stayed);
  }

  /**
   * @param trust the keys that are enrolled
   * @param names what to move; none for all keys of people and agents
   * @throws WritException {@code CLI-025} for a folder in the home; {@code CLI-024}, {@code
   *     CLI-026} for a name that is no such key; {@code CAN-071} where the folder has another file
   *     of the name; {@code CAN-07x} where a key cannot be read. Until then nothing was removed
   */
  public static MovedKeys move(
      Home home, Path to, Trust trust, List<String> names, DurableFiles disk) {
    Path folder = to.toAbsolutePath().normalize();
    List<String> moving = new ArrayList<>();
    List<String> staying = new ArrayList<>();
    for (String name : home.keyNames()) {
      Optional<String> reason = reasonToStay(home, name, trust);
      if (reason.isEmpty()) {
        moving.add(name);
      } else if (!isKernels(name)) {
        staying.add(name + " (" + reason.get() + ")");
      }
    }
    if (!names.isEmpty()) {
      requireAll(home, folder, names, moving, trust);
      moving.retainAll(names);
    }
    makeFolder(home, folder);
    moving.forEach(name -> requireFree(home, folder, name));
    try {
      for (String name : moving) {
        copy(home, folder, name, disk);
      }
      // Also where an earlier call was interrupted right behind the copies.
      home.keyPlaces().record(folder, disk);
      for (String name : moving) {
        Files.deleteIfExists(home.keyFile(name));
      }
      disk.syncDirectory(home.keys());
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, folder + ": " + e.getMessage(), e);
    }
    return new MovedKeys(folder, moving, staying);
  }

  /** Makes a folder for keys outside of a home, if it is not there. */
  static void makeFolder(Home home, Path folder) {
    try {
      if (isIn(home, folder)) {
        throw new WritException(EmbedError.KEY_FOLDER, folder + " is in " + home.dir());
      }
      DurableFiles.REAL.createDirectories(folder);
      if (isIn(home, folder.toRealPath())) {
        throw new WritException(EmbedError.KEY_FOLDER, folder + " leads into " + home.dir());
      }
      requireOwnersAlone(folder);
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, folder + ": " + e.getMessage(), e);
    }
  }

  private static boolean isIn(Home home, Path folder) throws IOException {
    return folder.startsWith(home.dir())
        || Files.exists(home.dir()) && folder.startsWith(home.dir().toRealPath());
  }

  /** Whoever can write to the folder can remove the keys, and put others in their place. */
  private static void requireOwnersAlone(Path folder) throws IOException {
    if (!folder.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return;
    }
    Set<PosixFilePermission> mode = Files.getPosixFilePermissions(folder);
    if (mode.contains(PosixFilePermission.OTHERS_WRITE)
        || mode.contains(PosixFilePermission.GROUP_WRITE)) {
      throw new WritException(
          EmbedError.KEY_FOLDER, folder + " can be written by others: chmod go-w " + folder);
    }
  }

  private static boolean isKernels(String name) {
    return RotatedKeys.ROLES.stream().anyMatch(role -> role.text().equals(name));
  }

  /** Empty where the key is one of people or agents. */
  private static Optional<String> reasonToStay(Home home, String name, Trust trust) {
    if (isKernels(name)) {
      return Optional.of("the kernel's");
    }
    Path file = home.keyFile(name);
    String kid = KeyFiles.read(file, () -> home.passphrase().of(file)).kid();
    Optional<KeyRole> role = trust.key(kid).map(TrustedKey::role);
    return role.isEmpty()
        ? Optional.of("never enrolled")
        : role.filter(KeyPlaces::isServers).map(found -> "role " + found.text());
  }

  /** A name may also be moved already, by a call that was interrupted. */
  private static void requireAll(
      Home home, Path folder, List<String> names, List<String> moving, Trust trust) {
    for (String name : names) {
      if (moving.contains(name)) {
        continue;
      }
      if (home.keyNames().contains(name)) {
        throw new WritException(
            EmbedError.KEY_STAYS, name + ": " + reasonToStay(home, name, trust).orElse(""));
      }
      if (!Files.exists(folder.resolve(name + KeyPlaces.PEM), LinkOption.NOFOLLOW_LINKS)) {
        throw new WritException(EmbedError.KEY_ELSEWHERE, home.keyFile(name) + " is not there");
      }
    }
  }

  private static void requireFree(Home home, Path folder, String name) {
    Path target = folder.resolve(name + KeyPlaces.PEM);
    try {
      if (Files.exists(target, LinkOption.NOFOLLOW_LINKS) && !isCopy(home, target, name)) {
        throw new WritException(
            CanonicalizeError.KEY_FILE_EXISTS, target + ", with another content");
      }
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNREADABLE, target + ": " + e.getMessage(), e);
    }
  }

  private static boolean isCopy(Home home, Path target, String name) throws IOException {
    return Files.isRegularFile(target, LinkOption.NOFOLLOW_LINKS)
        && Arrays.equals(Files.readAllBytes(target), Files.readAllBytes(home.keyFile(name)));
  }

  private static void copy(Home home, Path folder, String name, DurableFiles disk)
      throws IOException {
    Path target = folder.resolve(name + KeyPlaces.PEM);
    if (!Files.exists(target, LinkOption.NOFOLLOW_LINKS)) {
      KeyFiles.copy(home.keyFile(name), target, disk);
    } else {
      // Of an interrupted call: its name may not have been synced.
      disk.syncDirectory(folder);
    }
    if (!isCopy(home, target, name)) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, target + " reads back otherwise");
    }
    KeyFiles.requireOwnersAlone(target);
  }
}
