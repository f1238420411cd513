package dev.writ.s3;

import dev.writ.ledger.publish.PublicPlace;
import dev.writ.s3.S3Bucket.Small;
import dev.writ.s3.S3Bucket.When;
import java.io.ByteArrayInputStream;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Function;
import software.amazon.awssdk.core.sync.RequestBody;

/** Small public files as objects below a prefix, each write with a condition. */
final class S3PublicPlace implements PublicPlace {
  private static final String TYPE = "text/plain; charset=utf-8";

  private final S3Bucket bucket;

  S3PublicPlace(S3Settings settings) {
    this.bucket = new S3Bucket(settings);
  }

  @Override
  public Optional<byte[]> read(String name) {
    return bucket.getSmall(name, BYTES_MAX + 1).map(Small::bytes);
  }

  @Override
  public boolean create(String name, byte[] content) {
    // Where its answer was lost and it was sent again, this very write may be in its own way.
    return bucket.put(name, body(content), new When.Absent()).isPresent() || holds(name, content);
  }

  @Override
  public boolean change(String name, Function<Optional<byte[]>, Optional<byte[]>> next) {
    Optional<Small> before = bucket.getSmall(name, BYTES_MAX + 1);
    Optional<byte[]> content = next.apply(before.map(Small::bytes));
    if (content.isEmpty()) {
      return true;
    }
    When when =
        before.<When>map(found -> new When.Unchanged(found.tag())).orElseGet(When.Absent::new);
    return bucket.put(name, body(content.get()), when).isPresent() || holds(name, content.get());
  }

  private boolean holds(String name, byte[] content) {
    return read(name).filter(found -> Arrays.equals(found, content)).isPresent();
  }

  private static RequestBody body(byte[] content) {
    return RequestBody.fromContentProvider(
        () -> new ByteArrayInputStream(content), content.length, TYPE);
  }
}
