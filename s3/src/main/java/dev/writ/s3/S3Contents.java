package dev.writ.s3;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.storage.ContentPlace;
import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.SharedAnchor;
import dev.writ.s3.S3Bucket.Small;
import dev.writ.s3.S3Bucket.When;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.security.MessageDigest;
import java.time.Clock;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.sync.RequestBody;

/** Large contents as objects {@code contents/<hex>/<place>} (spec/storage-s3.md). */
final class S3Contents implements LargeContents {
  private static final String MARKER = "installation";
  private static final int MARKER_BYTES_MAX = 4096;
  private static final String FOLDER = "contents/";
  private static final Pattern NAME = Pattern.compile("contents/([0-9a-f]{64})/([0-9]+-[0-9]+)");

  /** What says nothing of an object that was asked for. */
  private static final Set<ObjectStoreError> AWAY =
      Set.of(
          ObjectStoreError.UNREACHABLE,
          ObjectStoreError.CREDENTIALS,
          ObjectStoreError.RIGHTS,
          ObjectStoreError.BUCKET_MISSING,
          ObjectStoreError.REGION,
          ObjectStoreError.CLOCK);

  private final S3Settings settings;
  private final S3Bucket bucket;
  private final S3FileUpload upload;
  private final AtomicLong kept = new AtomicLong();

  S3Contents(S3Settings settings) {
    this(settings, S3FileUpload.PART_BYTES);
  }

  /** For tests: with smaller parts; Amazon takes none below 5 MiB. */
  S3Contents(S3Settings settings, long partBytes) {
    this.settings = settings;
    this.bucket = new S3Bucket(settings);
    this.upload = new S3FileUpload(bucket, partBytes);
  }

  @Override
  public String location() {
    return settings.location();
  }

  @Override
  public boolean isShared() {
    return true;
  }

  @Override
  public void requireAsked(WritException failure) {
    if (failure.code() instanceof ObjectStoreError code && AWAY.contains(code)) {
      throw failure;
    }
  }

  /**
   * @throws WritException {@code OBJ-002} to {@code OBJ-008}
   */
  @Override
  public void probe() {
    new S3Probe(bucket, Clock.systemUTC()).run();
  }

  /**
   * @throws WritException {@code OBJ-009}
   */
  @Override
  public boolean claim(byte[] marker) {
    boolean isNew = bucket.getSmall(MARKER, MARKER_BYTES_MAX).isEmpty();
    if (isNew) {
      // Where the condition fails, this write was sent again, or somebody else was faster.
      bucket.put(MARKER, RequestBody.fromBytes(marker), new When.Absent());
    }
    requireClaimed(marker);
    return isNew;
  }

  /**
   * @throws WritException {@code OBJ-009}, {@code OBJ-010}, {@code OBJ-011} for what is no mark at
   *     all, such as a proxy's own page
   */
  @Override
  public void requireClaimed(byte[] marker) {
    Small found =
        bucket
            .getSmall(MARKER, MARKER_BYTES_MAX)
            .orElseThrow(() -> new WritException(ObjectStoreError.MARKER_MISSING, location()));
    if (!Arrays.equals(found.bytes(), marker)) {
      if (found.isPage()) {
        throw new WritException(ObjectStoreError.DIFFERS, bucket.name(MARKER));
      }
      throw new WritException(ObjectStoreError.OTHER_INSTALLATION, location());
    }
  }

  @Override
  public void unclaim() {
    bucket.delete(S3Anchor.OBJECT);
    bucket.delete(MARKER);
  }

  private static String object(Digest digest, byte[] place) {
    return FOLDER + digest.hex() + "/" + ContentPlace.text(place);
  }

  @Override
  public byte[] keep(Spooled content, long epoch) throws IOException {
    byte[] place = ContentPlace.of(epoch, kept.incrementAndGet());
    keepAt(content, place);
    return place;
  }

  /**
   * @throws WritException {@code OBJ-011} where what is read back has another digest, and what the
   *     store refuses
   */
  @Override
  public void keepAt(Spooled content, byte[] place) throws IOException {
    content.channel().close();
    String object = object(content.digest(), place);
    upload.put(object, content.file(), content.size());
    requireSame(content, object);
    Files.deleteIfExists(content.file());
  }

  /**
   * Reads back what is stored, whoever stored it: so neither what changed on the way nor what was
   * there before is taken for this content.
   */
  private void requireSame(Spooled content, String object) throws IOException {
    MessageDigest hash = Digest.newSha256();
    long size = 0;
    try (InputStream in =
        stream(object)
            .orElseThrow(
                () -> new WritException(ObjectStoreError.DIFFERS, object + " is not there"))) {
      byte[] buffer = new byte[1 << 16];
      for (int n = in.read(buffer); n >= 0; n = in.read(buffer)) {
        hash.update(buffer, 0, n);
        size += n;
      }
    }
    if (size != content.size() || !Digest.ofBytes(hash.digest()).equals(content.digest())) {
      throw new WritException(ObjectStoreError.DIFFERS, object);
    }
  }

  private Optional<InputStream> stream(String object) {
    return bucket.get(object, _ -> {}).map(in -> new S3ObjectStream(bucket, object, in));
  }

  @Override
  public boolean has(Digest digest, byte[] place, long size) {
    return bucket
        .head(object(digest, place))
        .filter(found -> Objects.equals(found.contentLength(), size)) // a proxy may leave it out
        .isPresent();
  }

  @Override
  public Optional<InputStream> open(Digest digest, byte[] place, long size) {
    return stream(object(digest, place));
  }

  @Override
  public void remove(Digest digest, byte[] place, BooleanSupplier isUnused) {
    if (isUnused.getAsBoolean()) {
      bucket.delete(object(digest, place));
    }
  }

  @Override
  public void visit(StoredVisitor visitor) {
    bucket.list(
        FOLDER,
        name -> {
          Matcher parts = NAME.matcher(name);
          if (parts.matches()) {
            ContentPlace.parse(parts.group(2))
                .ifPresent(place ->
                    visitor.stored(
                        Digest.parse("sha256:" + parts.group(1)),
                        place,
                        ContentPlace.epoch(place)));
          }
        });
  }

  @Override
  public Optional<SharedAnchor> anchor() {
    return Optional.of(new S3Anchor(bucket));
  }
}
