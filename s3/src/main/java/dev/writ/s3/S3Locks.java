package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.BundleLock.Until;
import dev.writ.s3.error.ObjectStoreError;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.Optional;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ObjectLockConfiguration;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;

/**
 * Locks of objects in a bucket with object lock. What a store says that it did is not believed: the
 * lock of each object is read back.
 */
final class S3Locks {
  private static final Duration TRIED = Duration.ofDays(1);

  private final S3Bucket bucket;

  S3Locks(S3Bucket bucket) {
    this.bucket = bucket;
  }

  /**
   * How the bucket locks what says nothing of a lock itself.
   *
   * @param now which the store's clock is compared with: a lock that is too long cannot be undone
   * @throws WritException {@code OBJ-013} where the bucket has no object lock, {@code OBJ-007}
   */
  ObjectLockConfiguration require(Instant now) {
    return bucket
        .locking(now)
        .orElseThrow(
            () -> new WritException(ObjectStoreError.LOCK_MISSING, "no object lock is enabled"));
  }

  /** What an object is locked with; empty where nothing locks it. */
  static Optional<Until> of(HeadObjectResponse found) {
    return found.objectLockMode() == null || found.objectLockRetainUntilDate() == null
        ? Optional.empty()
        : Optional.of(new Until(found.objectLockMode(), found.objectLockRetainUntilDate()));
  }

  /**
   * Has a version of an object locked, where it is not locked so or longer: of an object in parts
   * some stores ignore the lock, and one that was left by an attempt before is locked from then on.
   *
   * @throws WritException {@code OBJ-011} where there is no such version, {@code OBJ-014} where the
   *     store does not say that it is locked
   */
  void lock(String object, String version, Until asked) {
    if (version.isEmpty()) {
      throw new WritException(
          ObjectStoreError.LOCK_IGNORED, bucket.name(object) + " has no version to lock");
    }
    Optional<Until> found = of(head(object, Optional.of(version)));
    if (found.filter(until -> until.covers(asked)).isEmpty()) {
      bucket.retain(object, version, found.map(asked::and).orElse(asked));
      found = of(head(object, Optional.of(version)));
    }
    if (found.filter(until -> until.covers(asked)).isEmpty()) {
      throw new WritException(
          ObjectStoreError.LOCK_IGNORED,
          bucket.name(object)
              + " should be locked until "
              + asked.end()
              + ", and is "
              + found
                  .map(
                      until -> "in " + BundleLock.word(until.mode()) + " mode until " + until.end())
                  .orElse("not locked"));
    }
  }

  private HeadObjectResponse head(String object, Optional<String> version) {
    return bucket
        .head(object, version)
        .orElseThrow(() ->
            new WritException(ObjectStoreError.DIFFERS, bucket.name(object) + " is not there"));
  }

  /**
   * Locks an object for a day and tries to remove what was locked.
   *
   * @throws WritException {@code OBJ-014} where the store let it be removed: then it is gone
   */
  void tryOut(String object, ObjectLockMode mode, Instant now) {
    Instant end = now.plus(TRIED).truncatedTo(ChronoUnit.SECONDS);
    String version = Objects.requireNonNullElse(head(object, Optional.empty()).versionId(), "");
    lock(object, version, new Until(mode, end));
    if (bucket.deleteVersion(object, version)) {
      throw new WritException(
          ObjectStoreError.LOCK_IGNORED,
          bucket.name(object) + " was locked until " + end + ", and could be removed");
    }
  }
}
