package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.S3Bucket.Small;
import dev.writ.s3.S3Bucket.When;
import dev.writ.s3.error.ObjectStoreError;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.Optional;
import java.util.UUID;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;

/** Tries out, on an object of its own, whether a store keeps the conditions of writes. */
final class S3Probe {
  private static final byte[] FIRST = "first".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] SECOND = "second".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] THIRD = "third".getBytes(StandardCharsets.US_ASCII);

  private final S3Bucket bucket;
  private final InstantSource clock;
  private final String object = "probe/" + UUID.randomUUID();

  S3Probe(S3Bucket bucket, InstantSource clock) {
    this.bucket = bucket;
    this.clock = clock;
  }

  /**
   * @throws WritException {@code OBJ-007}, {@code OBJ-008}, and where the store cannot be used at
   *     all
   */
  void run() {
    try {
      Optional<PutObjectResponse> first = put(FIRST, new When.Absent());
      first.ifPresent(found -> S3Clock.require(found.sdkHttpResponse(), clock.instant()));
      // Where an answer was lost and the write sent again, the first one has made it.
      String tag = first.map(PutObjectResponse::eTag).orElseGet(() -> found(FIRST).tag());
      require(put(SECOND, new When.Absent()).isEmpty(), "If-None-Match: *");
      found(FIRST);
      put(SECOND, new When.Unchanged(tag));
      found(SECOND);
      require(put(THIRD, new When.Unchanged(tag)).isEmpty(), "If-Match");
      found(SECOND);
    } finally {
      remove();
    }
  }

  private Optional<PutObjectResponse> put(byte[] bytes, When when) {
    return bucket.put(object, RequestBody.fromBytes(bytes), when);
  }

  private Small found(byte[] expected) {
    Optional<Small> found = bucket.getSmall(object, THIRD.length + SECOND.length);
    require(
        found.isPresent() && Arrays.equals(found.get().bytes(), expected),
        "reading what was written last");
    return found.orElseThrow();
  }

  private static void require(boolean isKept, String what) {
    if (!isKept) {
      throw new WritException(ObjectStoreError.CONDITIONS_IGNORED, "it fails at: " + what);
    }
  }

  private void remove() {
    try {
      bucket.delete(object);
    } catch (WritException e) {
      // What went wrong before says more; and an object of a few bytes does no harm.
    }
  }
}
