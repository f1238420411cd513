package dev.writ.s3;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.error.LedgerError;
import dev.writ.s3.S3Bucket.Small;
import dev.writ.s3.S3Bucket.When;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import software.amazon.awssdk.core.sync.RequestBody;

/** Bundles of closed runs as objects {@code bundles/<hex>.writ}, each written with a condition. */
final class S3ArchivePlace implements ArchivePlace {
  private static final String MARKER = "writ-archive";
  private static final byte[] MARKER_CONTENT = "writ-archive 1\n".getBytes(StandardCharsets.UTF_8);
  private static final String FOLDER = "bundles/";
  private static final String SUFFIX = ".writ";
  private static final Pattern NAME = Pattern.compile("bundles/([0-9a-f]{64})\\.writ");

  private final String address;
  private final S3Bucket bucket;

  S3ArchivePlace(String address) {
    this.address = address;
    this.bucket = new S3Bucket(S3Settings.parse(address));
  }

  @Override
  public String address() {
    return address;
  }

  @Override
  public void begin() {
    bucket.put(MARKER, RequestBody.fromBytes(MARKER_CONTENT), new When.Absent());
    require();
  }

  @Override
  public void require() {
    Optional<Small> marker = bucket.getSmall(MARKER, MARKER_CONTENT.length + 1);
    if (marker.filter(found -> Arrays.equals(found.bytes(), MARKER_CONTENT)).isEmpty()) {
      throw new WritException(
          LedgerError.ARCHIVE_ABSENT, bucket.name(MARKER) + " is not there, or of another kind");
    }
  }

  @Override
  public Path draft(String writer) throws IOException {
    return Files.createTempFile("writ-archive-", SUFFIX);
  }

  private static String object(Digest bundle) {
    return FOLDER + bundle.hex() + SUFFIX;
  }

  @Override
  public void keep(Path draft, Digest bundle) {
    try {
      new S3FileUpload(bucket, S3FileUpload.PART_BYTES)
          .put(object(bundle), draft, Files.size(draft));
      Files.delete(draft);
    } catch (IOException | UncheckedIOException e) {
      throw failed("writing " + object(bundle), e);
    }
  }

  @Override
  public Optional<Fetched> fetch(Digest bundle) {
    String object = object(bundle);
    return bucket
        .get(object, _ -> {})
        .map(found -> {
          Path copy = null;
          try (InputStream in = new S3ObjectStream(bucket, object, found)) {
            copy = Files.createTempFile("writ-archive-", SUFFIX);
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            return new Copied(copy);
          } catch (IOException e) {
            if (copy != null) {
              new Copied(copy).close();
            }
            throw failed("reading " + object, e);
          }
        });
  }

  /** A file of this process, for as long as somebody reads it. */
  private record Copied(Path file) implements Fetched {
    @Override
    public void close() {
      try {
        Files.deleteIfExists(file);
      } catch (IOException e) {
        throw failed("removing " + file, e);
      }
    }
  }

  @Override
  public void visit(Consumer<Digest> visitor) {
    bucket.list(
        FOLDER,
        name -> {
          Matcher parts = NAME.matcher(name);
          if (parts.matches()) {
            visitor.accept(Digest.parse("sha256:" + parts.group(1)));
          }
        });
  }

  private static WritException failed(String doing, Exception e) {
    return new WritException(LedgerError.ARCHIVE_FAILED, doing + ": " + e.getMessage(), e);
  }
}
