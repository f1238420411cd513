package dev.writ.s3;

import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.s3.S3Bucket.Small;
import dev.writ.s3.S3Bucket.When;
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

  @Override
  public Optional<byte[]> read() {
    Optional<Small> found = bucket.getSmall(OBJECT, BYTES_MAX);
    tag = found.map(Small::tag);
    return found.map(Small::bytes);
  }

  @Override
  public boolean move(byte[] anchor) {
    When when = tag.<When>map(When.Unchanged::new).orElseGet(When.Absent::new);
    Optional<PutObjectResponse> written = bucket.put(OBJECT, RequestBody.fromBytes(anchor), when);
    if (written.isPresent()) {
      tag = Optional.of(written.get().eTag());
      return true;
    }
    // Perhaps it was this very write: it was sent again where its answer was lost.
    Optional<Small> found = bucket.getSmall(OBJECT, BYTES_MAX);
    boolean isOurs = found.isPresent() && Arrays.equals(found.get().bytes(), anchor);
    if (isOurs) {
      tag = found.map(Small::tag);
    }
    return isOurs;
  }
}
