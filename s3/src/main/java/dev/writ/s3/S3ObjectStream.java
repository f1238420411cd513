package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.function.LongSupplier;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Reads an object. Where the connection breaks off it goes on with the rest of the very same
 * object, by a range and its tag. A read that cannot go on throws {@code OBJ-002} or {@code
 * OBJ-011}.
 */
final class S3ObjectStream extends InputStream {
  /** How often in one object; each time it got further, or the store was asked again in vain. */
  private static final int RESUMED_MAX = 20;

  private static final long UNKNOWN = -1;

  /** What a store has to send in a second, on average, to be waited for longer than patience. */
  private static final long BYTES_PER_S_MIN = 16 << 10;

  private final LongSupplier clock;
  private final S3Bucket bucket;
  private final String object;
  private final String tag;
  private final long size;
  private ResponseInputStream<GetObjectResponse> in;
  private long offset;
  private int resumed;

  /** Nanoseconds for which bytes were waited for; how long the reader takes is its own matter. */
  private long waited;

  /**
   * @param in from the object's first byte
   */
  S3ObjectStream(S3Bucket bucket, String object, ResponseInputStream<GetObjectResponse> in) {
    this(bucket, object, in, System::nanoTime);
  }

  /** For tests: with another clock, in nanoseconds. */
  S3ObjectStream(
      S3Bucket bucket,
      String object,
      ResponseInputStream<GetObjectResponse> in,
      LongSupplier clock) {
    this.clock = clock;
    this.bucket = bucket;
    this.object = object;
    this.in = in;
    this.tag = in.response().eTag();
    Long said = in.response().contentLength();
    this.size = said == null ? UNKNOWN : said;
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
  }

  @Override
  public int read(byte[] buffer, int from, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    while (true) {
      try {
        int count = received(buffer, from, length);
        if (count > 0) {
          offset += count;
          requirePace();
          return count;
        }
        if (offset >= size) { // or the store did not say it: whoever reads compares the digest
          return -1;
        }
        throw new IOException("it ended after " + offset + " of " + size + " bytes");
      } catch (IOException e) {
        resume(e);
      }
    }
  }

  private int received(byte[] buffer, int from, int length) throws IOException {
    long began = clock.getAsLong();
    try {
      return in.read(buffer, from, length);
    } finally {
      waited += clock.getAsLong() - began;
    }
  }

  /** A store that sends a byte now and then is never silent, and would hold its reader for ever. */
  private void requirePace() {
    Duration all = Duration.ofNanos(waited);
    boolean isSlow = offset / BYTES_PER_S_MIN < all.toSeconds() && offset != size;
    if (isSlow && all.compareTo(bucket.patience()) > 0) {
      in.abort();
      throw failed(
          ObjectStoreError.UNREACHABLE,
          "it sent " + offset + " bytes in " + all.toSeconds() + " seconds");
    }
  }

  private WritException failed(ObjectStoreError code, String found) {
    return new WritException(code, "reading " + object + ": " + found);
  }

  private void resume(IOException broken) {
    in.abort();
    requirePace();
    if (++resumed > RESUMED_MAX) {
      throw failed(
          ObjectStoreError.UNREACHABLE,
          "it broke off " + resumed + " times, last by " + broken.getMessage());
    }
    in =
        bucket
            .get(object, b -> b.range("bytes=" + offset + "-").ifMatch(tag))
            .orElseThrow(() -> failed(ObjectStoreError.DIFFERS, "it was removed meanwhile"));
    if (offset > 0 && in.response().contentRange() == null) {
      in.abort();
      throw failed(
          ObjectStoreError.UNREACHABLE, "it broke off, and the store does not give the rest alone");
    }
  }

  /** Without reading the rest. */
  @Override
  public void close() {
    if (offset < size || size == UNKNOWN) {
      in.abort();
    } else {
      try {
        in.close();
      } catch (IOException e) {
        // All of it was read.
      }
    }
  }
}
