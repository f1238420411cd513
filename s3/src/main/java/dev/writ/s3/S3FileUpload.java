package dev.writ.s3;

import dev.writ.s3.S3Bucket.When;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * Writes a file as an object, where there is none of that name; a large one in parts. The file must
 * stay as it is meanwhile.
 *
 * @param partBytes of a part, and of the largest file that is written at once
 */
record S3FileUpload(S3Bucket bucket, long partBytes) {
  private static final String TYPE = "application/octet-stream";
  private static final int PARTS_MAX = 10_000;

  /** Amazon takes no parts below 5 MiB. */
  static final long PART_BYTES = 16L << 20;

  /** Whoever needs to know what is there then reads it back. */
  void put(String object, Path file, long size) {
    put(object, file, size, Optional.empty());
  }

  /** The same with a lock; whoever relies on it looks at what the object has then. */
  void put(String object, Path file, long size, Optional<BundleLock.Until> lock) {
    if (size <= partBytes) {
      bucket.put(object, part(file, 0, size), new When.Absent(), lock);
    } else {
      bucket.putParts(object, parts(file, size), lock);
    }
  }

  private List<RequestBody> parts(Path file, long whole) {
    long size = Math.max(partBytes, Math.ceilDiv(whole, (long) PARTS_MAX));
    List<RequestBody> parts = new ArrayList<>();
    for (long from = 0; from < whole; from += size) {
      parts.add(part(file, from, Math.min(size, whole - from)));
    }
    return parts;
  }

  private static RequestBody part(Path file, long from, long length) {
    return RequestBody.fromContentProvider(() -> FileRange.open(file, from, length), length, TYPE);
  }
}
