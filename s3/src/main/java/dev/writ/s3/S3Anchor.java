package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.s3.S3Bucket.Small;
import dev.writ.s3.S3Bucket.When;
import dev.writ.s3.error.ObjectStoreError;
import java.util.Arrays;
import java.util.Optional;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** The anchor as an object, moved by {@code If-Match}. */
final class S3Anchor implements SharedAnchor {
  static final String OBJECT = "anchor";
  private static final int BYTES_MAX = 4096;

  private final S3Bucket bucket;

  /** Of the object from which the next move is; empty where there is none. */
  private Optional<String> tag = Optional.empty();

  S3Anchor(S3Bucket bucket) {
    this.bucket = bucket;
  }

  /**
   * Without it the next move would have no condition.
   *
   * @throws WritException {@code OBJ-008}
   */
  private static String required(String tag) {
    if (tag == null) {
      throw new WritException(
          ObjectStoreError.CONDITIONS_IGNORED, "an answer about " + OBJECT + " has no ETag");
    }
    return tag;
  }

  @Override
  public Optional<byte[]> read() {
    Optional<Small> found = bucket.getSmall(OBJECT, BYTES_MAX);
    found.ifPresent(S3Anchor::requireNoPage);
    tag = found.map(small -> required(small.tag()));
    return found.map(Small::bytes);
  }

  /**
   * A proxy's own page is not taken for an anchor that somebody has spoilt: who removes one of
   * those voids every intent.
   *
   * @throws WritException {@code OBJ-011}
   */
  private static void requireNoPage(Small found) {
    if (found.isPage()) {
      throw new WritException(ObjectStoreError.DIFFERS, OBJECT);
    }
  }

  @Override
  public boolean move(byte[] anchor) {
    When when = tag.<When>map(When.Unchanged::new).orElseGet(When.Absent::new);
    Optional<PutObjectResponse> written = bucket.put(OBJECT, RequestBody.fromBytes(anchor), when);
    if (written.isPresent()) {
      tag = Optional.of(required(written.get().eTag()));
      return true;
    }
    // Perhaps it was this very write: it was sent again where its answer was lost.
    Optional<Small> found = bucket.getSmall(OBJECT, BYTES_MAX);
    boolean isOurs = found.isPresent() && Arrays.equals(found.get().bytes(), anchor);
    if (isOurs) {
      tag = found.map(small -> required(small.tag()));
    }
    return isOurs;
  }
}
