package dev.writ.s3;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.TemporaryFiles;
import dev.writ.ledger.archive.ArchivePlace.Fetched;
import dev.writ.ledger.error.LedgerError;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;

/** Copies bundles out of a bucket, each into a file of this process. */
record S3ArchivedBundle(S3Bucket bucket) {
  /** The first version is the one that was locked; later ones are of whoever overwrote it. */
  private static final int VERSIONS_MAX = 16;

  /** A file of this process, for as long as somebody reads it. */
  private record Copied(Path file, Digest digest, String version) implements Fetched {
    @Override
    public void close() {
      remove(file);
    }
  }

  /** What the object is now; empty where it is missing. */
  Optional<Fetched> latest(String object) {
    return copy(object, _ -> {}).map(Fetched.class::cast);
  }

  /**
   * The bundle itself, also where it was removed or overwritten since: then it is an older version.
   * Without one that has its bytes it is what the object is now.
   */
  Optional<Fetched> locked(String object, Digest bundle) {
    return exact(object, bundle).map(Fetched.class::cast).or(() -> latest(object));
  }

  /**
   * The version that has the bundle's bytes, all of which are read; an empty text where the store
   * has no versions.
   */
  Optional<String> version(String object, Digest bundle) {
    return exact(object, bundle)
        .map(found -> {
          found.close();
          return found.version();
        });
  }

  private Optional<Copied> exact(String object, Digest bundle) {
    Optional<Copied> now = copy(object, bundle, _ -> {});
    return now.isPresent()
        ? now
        : oldest(object).stream()
            .flatMap(version -> copy(object, bundle, b -> b.versionId(version)).stream())
            .findFirst();
  }

  private List<String> oldest(String object) {
    ArrayDeque<String> oldest = new ArrayDeque<>();
    bucket.listVersions(
        object,
        version -> { // the latest comes first
          oldest.addFirst(version.id());
          if (oldest.size() > VERSIONS_MAX) {
            oldest.removeLast();
          }
        });
    return List.copyOf(oldest);
  }

  /** Empty also where it has other bytes. */
  private Optional<Copied> copy(
      String object, Digest bundle, Consumer<GetObjectRequest.Builder> which) {
    Optional<Copied> found = copy(object, which);
    if (found.isPresent() && !found.get().digest().equals(bundle)) {
      found.get().close();
      return Optional.empty();
    }
    return found;
  }

  private Optional<Copied> copy(String object, Consumer<GetObjectRequest.Builder> which) {
    return bucket
        .get(object, which)
        .map(found -> {
          Path copy = null;
          MessageDigest hash = Digest.newSha256();
          try (InputStream in =
              new DigestInputStream(new S3ObjectStream(bucket, object, found), hash)) {
            copy = TemporaryFiles.create("archive-", ".writ");
            Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
            return new Copied(
                copy,
                Digest.ofBytes(hash.digest()),
                Objects.requireNonNullElse(found.response().versionId(), ""));
          } catch (IOException | WritException e) {
            if (copy != null) {
              remove(copy);
            }
            throw e instanceof WritException refused ? refused : failed("reading " + object, e);
          }
        });
  }

  private static void remove(Path copy) {
    try {
      Files.deleteIfExists(copy);
    } catch (IOException e) {
      throw failed("removing " + copy, e);
    }
  }

  private static WritException failed(String doing, Exception e) {
    return new WritException(LedgerError.ARCHIVE_FAILED, doing + ": " + e.getMessage(), e);
  }
}
