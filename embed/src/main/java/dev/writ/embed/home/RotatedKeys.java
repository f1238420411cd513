package dev.writ.embed.home;

import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.SigningKey;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.canonicalize.trust.KeyRole;
import dev.writ.canonicalize.trust.TrustedKey;
import dev.writ.embed.error.EmbedError;
import dev.writ.executor.Kernel;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The exchange of the keys that a kernel signs with (spec/keys.md, "Rotating a kernel's key"). The
 * new key waits in a file of its own until an operator's signed enrolment of it is in the log; then
 * the kernel signs with it, and its file takes the name. So a crash at any point leaves a kernel
 * that starts: with the old key before the enrolment, with the new one behind it.
 */
public final class RotatedKeys {
  /** The roles of the keys that a kernel has itself. */
  public static final List<KeyRole> ROLES =
      List.of(KeyRole.GUARDIAN, KeyRole.EXECUTOR, KeyRole.LOG);

  private RotatedKeys() {}

  /**
   * Has the kernel sign with each waiting key that is enrolled by now. The kernels of one process
   * do so one after another: those of several cells have the same files.
   *
   * <p>One whose file cannot be read here, or not be renamed, waits on, and the kernel goes on with
   * the key that it has: this is called behind a change that is in the log already, which must not
   * be told as refused, and a file that nobody enrolled must keep no kernel from starting.
   */
  static synchronized void take(Home home, Kernel kernel) {
    for (KeyRole role : ROLES) {
      try {
        take(home, kernel, role);
      } catch (WritException e) {
        continue; // `key rotate` says that it waits; `doctor` and the log of a server why
      }
    }
  }

  /**
   * The keys that wait and cannot be read here, each with why. A kernel goes on without them, so
   * somebody has to be told.
   */
  public static SortedMap<KeyRole, WritException> unread(Home home) {
    TreeMap<KeyRole, WritException> unread = new TreeMap<>();
    for (KeyRole role : ROLES) {
      try {
        home.nextKey(role.text());
      } catch (WritException e) {
        unread.put(role, e);
      }
    }
    return unread;
  }

  private static void take(Home home, Kernel kernel, KeyRole role) {
    Optional<SigningKey> next = home.nextKey(role.text());
    if (next.filter(key -> isEnrolled(kernel, role, key)).isPresent()) {
      kernel.signWith(role, next.get());
      rename(home, role.text());
    } else if (home.cells() > 1 && next.isEmpty()) {
      takeRenamed(home, kernel, role);
    }
  }

  /** The kernel of another cell may have taken the key and renamed its file. */
  private static void takeRenamed(Home home, Kernel kernel, KeyRole role) {
    SigningKey named = home.key(role.text());
    if (isEnrolled(kernel, role, named)) {
      kernel.signWith(role, named);
    }
  }

  private static boolean isEnrolled(Kernel kernel, KeyRole role, SigningKey key) {
    Optional<TrustedKey> enrolled = kernel.system().trust().key(key.kid());
    return enrolled.filter(k -> k.role() == role && k.revokedAt().isEmpty()).isPresent();
  }

  private static void rename(Home home, String name) {
    try {
      DurableFiles.REAL.move(home.nextKeyFile(name), home.keyFile(name));
    } catch (IOException e) {
      throw new WritException(EmbedError.FILE_UNWRITABLE, home.keyFile(name).toString(), e);
    }
  }
}
