package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.archive.ArchiveProtection;
import dev.writ.s3.error.ObjectStoreError;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.services.s3.model.DefaultRetention;
import software.amazon.awssdk.services.s3.model.ObjectLockConfiguration;
import software.amazon.awssdk.services.s3.model.ObjectLockMode;
import software.amazon.awssdk.services.s3.model.ObjectLockRetentionMode;
import software.amazon.awssdk.services.s3.model.ObjectLockRule;

/**
 * Says what protects the bundles of an archive in a bucket.
 *
 * @param location of the archive, as messages name it
 */
record S3Protection(S3Bucket bucket, String location, Instant now) {
  /** How many bundles are looked at, each by a request. */
  static final int BUNDLES_MAX = 100;

  /** Where the archive's address asks for a lock, which was tried out. */
  ArchiveProtection by(BundleLock lock, List<String> bundles) {
    return found(
        bundles,
        "locks bundles in "
            + lock.word()
            + " mode for "
            + lock.days()
            + " days; a locked object could not be removed");
  }

  /** Where it asks for none: what the bucket does by itself. */
  ArchiveProtection byDefault(List<String> bundles) {
    Optional<ObjectLockConfiguration> locking;
    try {
      locking = bucket.locking(now);
    } catch (WritException e) {
      if (e.code() == ObjectStoreError.UNREACHABLE) {
        throw e;
      }
      return none("whether it has object lock cannot be read: " + e.getMessage());
    }
    if (locking.isEmpty()) {
      return none("has no object lock: whoever may remove objects can remove bundles");
    }
    return locking
        .map(ObjectLockConfiguration::rule)
        .map(ObjectLockRule::defaultRetention)
        .map(retention -> found(bundles, "locks objects by default in " + words(retention)))
        .orElseGet(
            () -> none("has object lock without a default, and archive.address asks for none"));
  }

  private static String words(DefaultRetention retention) {
    ObjectLockMode mode =
        retention.mode() == ObjectLockRetentionMode.COMPLIANCE
            ? ObjectLockMode.COMPLIANCE
            : ObjectLockMode.GOVERNANCE;
    return BundleLock.word(mode)
        + " mode for "
        + (retention.days() == null ? retention.years() + " years" : retention.days() + " days");
  }

  private ArchiveProtection none(String found) {
    return new ArchiveProtection(false, location + ": " + found);
  }

  private ArchiveProtection found(List<String> bundles, String how) {
    long locked = bundles.stream().filter(this::isLocked).count();
    return new ArchiveProtection(
        locked == bundles.size(),
        location
            + ": "
            + how
            + "; of "
            + bundles.size()
            + " bundles looked at "
            + locked
            + " are locked");
  }

  private boolean isLocked(String bundle) {
    return bucket
        .head(bundle)
        .flatMap(S3Locks::of)
        .filter(until -> until.end().isAfter(now))
        .isPresent();
  }
}
