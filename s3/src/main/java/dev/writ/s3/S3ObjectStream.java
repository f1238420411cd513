package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import java.io.IOException;
import java.io.InputStream;
import java.util.Optional;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/**
 * Reads an object. Where the connection breaks off it goes on with the rest of the very same
 * object, by a range and its tag.
 */
final class S3ObjectStream extends InputStream {
  /** How often in one object; each time it got further, or the store was asked again in vain. */
  private static final int RESUMED_MAX = 20;

  private static final long UNKNOWN = -1;

  private final S3Bucket bucket;
  private final String object;
  private final String tag;
  private final long size;
  private ResponseInputStream<GetObjectResponse> in;
  private long offset;
  private int resumed;

  /**
   * @param in from the object's first byte
   */
  S3ObjectStream(S3Bucket bucket, String object, ResponseInputStream<GetObjectResponse> in) {
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
        int count = in.read(buffer, from, length);
        if (count > 0) {
          offset += count;
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

  private void resume(IOException broken) throws IOException {
    in.abort();
    if (++resumed > RESUMED_MAX) {
      throw broken;
    }
    try {
      Optional<ResponseInputStream<GetObjectResponse>> rest =
          bucket.get(object, b -> b.range("bytes=" + offset + "-").ifMatch(tag));
      in = rest.orElseThrow(() -> new IOException("it was removed meanwhile", broken));
    } catch (WritException e) {
      throw new IOException(e.getMessage(), e);
    }
    if (offset > 0 && in.response().contentRange() == null) {
      in.abort();
      throw new IOException("the store ignores ranges", broken);
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
