package dev.writ.s3;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;

/**
 * How an archive's bundles are locked (spec/storage-s3.md, Object lock).
 *
 * @param mode compliance: nobody can remove them or shorten the lock; governance: who has a right
 *     for that can
 * @param days for how long, from the time at which a bundle is kept
 */
record BundleLock(ObjectLockMode mode, int days) {
  static final int DAYS_MAX = 36_500;

  /** Stores keep whole seconds. */
  Until from(Instant now) {
    return new Until(mode, now.plus(Duration.ofDays(days)).truncatedTo(ChronoUnit.SECONDS));
  }

  /** As the address names the mode. */
  String word() {
    return word(mode);
  }

  static String word(ObjectLockMode mode) {
    return mode == ObjectLockMode.COMPLIANCE ? "compliance" : "governance";
  }

  /**
   * What one object is locked with.
   *
   * @param end until when
   */
  record Until(ObjectLockMode mode, Instant end) {
    /** Whether an object with this lock is protected at least as an object with the other. */
    boolean covers(Until other) {
      boolean isStrict = mode == ObjectLockMode.COMPLIANCE || mode == other.mode;
      return isStrict && !end.isBefore(other.end);
    }

    /** A lock that covers both, so that none is weakened. */
    Until and(Until other) {
      return new Until(
          mode == ObjectLockMode.COMPLIANCE ? mode : other.mode,
          end.isAfter(other.end) ? end : other.end);
    }
  }
}
