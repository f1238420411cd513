package dev.writ.verify.bundle;

import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import java.util.Optional;

/** Compares what a bundle records with what follows from the rest of it. */
final class Recomputed {
  private Recomputed() {}

  /**
   * @param found what the bundle records
   * @param wanted what it has to be
   * @throws WritException with that code where they differ
   */
  static void same(BundleError code, String place, Object found, Object wanted) {
    if (!found.equals(wanted)) {
      throw new WritException(
          code, place + ": recorded " + text(found) + ", recomputed " + text(wanted));
    }
  }

  private static String text(Object value) {
    return value instanceof Optional<?> optional
        ? optional.map(Object::toString).orElse("none")
        : value.toString();
  }
}
