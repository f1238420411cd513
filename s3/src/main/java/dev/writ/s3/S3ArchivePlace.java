package dev.writ.s3;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryFiles;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.archive.ArchiveProtection;
import dev.writ.ledger.error.LedgerError;
import dev.writ.s3.S3Bucket.When;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.sync.RequestBody;

/**
 * Bundles of closed runs as objects {@code bundles/<hex>.writ}, each written with a condition, and
 * locked where the address says so.
 */
final class S3ArchivePlace implements ArchivePlace {
  private static final String MARKER = "writ-archive";
  private static final byte[] MARKER_CONTENT = "writ-archive 1\n".getBytes(StandardCharsets.UTF_8);
  private static final String FOLDER = "bundles/";
  private static final String SUFFIX = ".writ";
  private static final Pattern NAME = Pattern.compile("bundles/([0-9a-f]{64})\\.writ");

  private final String address;
  private final S3Settings settings;
  private final S3Bucket bucket;
  private final S3Locks locks;
  private final S3ArchivedBundle bundles;

  S3ArchivePlace(String address) {
    this.address = address;
    this.settings = S3Settings.parseArchive(address);
    this.bucket = new S3Bucket(settings);
    this.locks = new S3Locks(bucket);
    this.bundles = new S3ArchivedBundle(bucket);
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public void begin() {
    if (!isMarked()) {
      bucket.put(MARKER, RequestBody.fromBytes(MARKER_CONTENT), new When.Absent());
      require();
    }
  }

  private boolean isMarked() {
    return bucket
        .getSmall(MARKER, MARKER_CONTENT.length + 1)
        .filter(found -> Arrays.equals(found.bytes(), MARKER_CONTENT))
        .isPresent();
  }

  @Override
  public void require() {
    if (!isMarked()) {
      throw new WritException(
          LedgerError.ARCHIVE_ABSENT, bucket.name(MARKER) + " is not there, or of another kind");
    }
  }

  @Override
  public Path draft(String writer) throws IOException {
    return TemporaryFiles.create("archive-", SUFFIX);
  }

  private static String object(Digest bundle) {
    return FOLDER + bundle.hex() + SUFFIX;
  }

  /**
   * {@inheritDoc}
   *
   * <p>With a lock the version that has the bundle's bytes is the one that is locked, whatever was
   * written over it. One that is there already is not sent again, since stores that have versions
   * may ignore the condition and keep both.
   */
  @Override
  public void keep(Path draft, Digest bundle, Instant now) {
    String object = object(bundle);
    try {
      if (settings.lock().isEmpty()) {
        upload(draft, object, Optional.empty());
      } else {
        keepLocked(draft, bundle, settings.lock().get().from(now), now);
      }
      Files.delete(draft);
    } catch (IOException | UncheckedIOException e) {
      throw failed("writing " + object, e);
    }
  }

  private void keepLocked(Path draft, Digest bundle, BundleLock.Until until, Instant now)
      throws IOException {
    String object = object(bundle);
    locks.require(now);
    Optional<String> version = bundles.version(object, bundle);
    if (version.isEmpty()) {
      upload(draft, object, Optional.of(until));
      version = bundles.version(object, bundle);
    }
    locks.lock(
        object,
        version.orElseThrow(() -> new WritException(ObjectStoreError.DIFFERS, bucket.name(object))),
        until);
  }

  private void upload(Path draft, String object, Optional<BundleLock.Until> until)
      throws IOException {
    new S3FileUpload(bucket, S3FileUpload.PART_BYTES).put(object, draft, Files.size(draft), until);
  }

  /**
   * {@inheritDoc}
   *
   * <p>With a lock an older version is taken where the object was removed or overwritten since.
   */
  @Override
  public Optional<Fetched> fetch(Digest bundle) {
    String object = object(bundle);
    return settings.lock().isPresent() ? bundles.locked(object, bundle) : bundles.latest(object);
  }

  @Override
  public void visit(Consumer<Digest> visitor) {
    String[] last = {""};
    Consumer<String> named =
        name -> {
          Matcher parts = NAME.matcher(name);
          if (parts.matches() && !name.equals(last[0])) {
            last[0] = name;
            visitor.accept(Digest.parse("sha256:" + parts.group(1)));
          }
        };
    if (settings.lock().isPresent()) {
      bucket.listVersions(FOLDER, version -> named.accept(version.object()));
    } else {
      bucket.list(FOLDER, named);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>With a lock it is tried out on the marker, which is put back where it could be removed;
   * without, the bucket's own retention is looked at.
   */
  @Override
  public ArchiveProtection protection(Instant now) {
    require();
    S3Protection found = new S3Protection(bucket, settings.location(), now);
    if (settings.lock().isEmpty()) {
      return found.byDefault(bundleNames());
    }
    BundleLock lock = settings.lock().get();
    locks.require(now);
    try {
      locks.tryOut(MARKER, lock.mode(), now);
    } catch (WritException e) {
      begin();
      throw e;
    }
    return found.by(lock, bundleNames());
  }

  private List<String> bundleNames() {
    List<String> names = new ArrayList<>();
    visit(bundle -> {
      if (names.size() < S3Protection.BUNDLES_MAX) {
        names.add(object(bundle));
      }
    });
    return names;
  }

  private static WritException failed(String doing, Exception e) {
    return new WritException(LedgerError.ARCHIVE_FAILED, doing + ": " + e.getMessage(), e);
  }
}
