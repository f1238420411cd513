package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.error.ObjectStoreError;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.function.Supplier;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.GetObjectLockConfigurationResponse;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.HeadObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectVersionsResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Request;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.ObjectLockConfiguration;
import software.amazon.awssdk.services.s3.model.ObjectLockEnabled;
import software.amazon.awssdk.services.s3.model.ObjectLockRetention;
import software.amazon.awssdk.services.s3.model.ObjectLockRetentionMode;
import software.amazon.awssdk.services.s3.model.ObjectVersion;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.PutObjectResponse;
import software.amazon.awssdk.services.s3.model.S3Object;

/**
 * The requests that are made of a bucket. A request that fails on the way, or by the store's own
 * fault, is sent again until the patience is over; so each is one that may arrive twice.
 */
final class S3Bucket {
  private static final Duration PAUSE = Duration.ofMillis(50);
  private static final Duration SHOWN_AGAIN = Duration.ofSeconds(1);
  private static final int CONFLICTS = 10;

  private final S3Settings settings;
  private volatile Optional<S3Clients.Known> client = Optional.empty();

  /** Whether the store has taken the credentials before. */
  private volatile boolean letIn;

  S3Bucket(S3Settings settings) {
    this.settings = settings;
  }

  /** How long a call goes on trying while the store does not answer. */
  Duration patience() {
    return settings.patience();
  }

  String name(String object) {
    return settings.prefix() + object;
  }

  private S3Client client() {
    if (client.isEmpty()) {
      client = Optional.of(S3Clients.of(settings));
    }
    return client.get().client();
  }

  /**
   * Credentials that the store does not take any more are read again and shown again until the
   * patience is over: where a key is exchanged, the store learns it a moment before or after us.
   */
  private <T> T asking(String doing, Supplier<T> request) {
    long until = System.nanoTime() + patience().toNanos();
    while (true) {
      try {
        T answer = askingOnce(doing, request);
        letIn = true;
        return answer;
      } catch (WritException e) {
        boolean isOver = System.nanoTime() - until > 0 || Thread.currentThread().isInterrupted();
        if (e.code() != ObjectStoreError.CREDENTIALS || !letIn || isOver) {
          throw e;
        }
        LockSupport.parkNanos(SHOWN_AGAIN.toNanos());
      }
    }
  }

  private <T> T askingOnce(String doing, Supplier<T> request) {
    try {
      return request.get();
    } catch (SdkException e) {
      throw S3Failures.of(doing, e, client.map(c -> c.last().status()).orElse(OptionalInt.empty()));
    } catch (UncheckedIOException e) { // the client's own, of an answer that broke off
      if (e.getCause() instanceof FileSystemException) {
        throw e;
      }
      throw new WritException(
          ObjectStoreError.UNREACHABLE, doing + ": " + e.getCause().getMessage(), e);
    }
  }

  /** A condition of a write. */
  sealed interface When {
    /** There is no such object. */
    record Absent() implements When {}

    /** It is still the one that had this tag. */
    record Unchanged(String tag) implements When {}
  }

  private static void apply(When when, PutObjectRequest.Builder request) {
    switch (when) {
      case When.Absent _ -> request.ifNoneMatch("*");
      case When.Unchanged unchanged -> request.ifMatch(unchanged.tag());
    }
  }

  /**
   * Writes an object if a condition holds.
   *
   * @return what the store says of it; empty where the condition does not hold
   */
  Optional<PutObjectResponse> put(String object, RequestBody body, When when) {
    return put(object, body, when, Optional.empty());
  }

  /**
   * The same with a lock, which a store may ignore.
   *
   * @return what the store says of it; empty where the condition does not hold
   */
  Optional<PutObjectResponse> put(
      String object, RequestBody body, When when, Optional<BundleLock.Until> lock) {
    return asking(
        "writing " + object,
        () -> {
          String sum = TransportSum.of(body);
          for (int conflict = 0; ; conflict++) {
            try {
              return Optional.of(
                  client()
                      .putObject(
                          b -> {
                            b.bucket(settings.bucket()).key(name(object)).contentMD5(sum);
                            apply(when, b);
                            lock.ifPresent(until ->
                                b.objectLockMode(until.mode())
                                    .objectLockRetainUntilDate(until.end()));
                          },
                          body));
            } catch (AwsServiceException e) {
              boolean isUnchangedGone = when instanceof When.Unchanged && S3Failures.isMissing(e);
              if (S3Failures.isConditionFailed(e) || isUnchangedGone) {
                return Optional.empty();
              }
              if (!S3Failures.isConflict(e) || conflict == CONFLICTS) {
                throw e;
              }
              LockSupport.parkNanos(PAUSE.toNanos());
            }
          }
        });
  }

  /**
   * Writes a large object in parts; where there is one already it may be left as it is.
   *
   * @param lock which a store may ignore
   */
  void putParts(String object, List<RequestBody> parts, Optional<BundleLock.Until> lock) {
    asking(
        "writing " + object + " in parts",
        () -> {
          String upload =
              client()
                  .createMultipartUpload(b -> {
                    b.bucket(settings.bucket()).key(name(object));
                    lock.ifPresent(until ->
                        b.objectLockMode(until.mode()).objectLockRetainUntilDate(until.end()));
                  })
                  .uploadId();
          if (upload == null || upload.isEmpty()) { // a part without it would be the object
            throw new WritException(
                ObjectStoreError.REFUSED, "writing " + object + " in parts: it names no upload");
          }
          boolean isSent = false;
          try {
            List<CompletedPart> sent = new ArrayList<>();
            for (RequestBody part : parts) {
              int number = sent.size() + 1;
              String sum = TransportSum.of(part);
              String tag =
                  client()
                      .uploadPart(
                          b ->
                              b.bucket(settings.bucket())
                                  .key(name(object))
                                  .uploadId(upload)
                                  .contentMD5(sum)
                                  .partNumber(number),
                          part)
                      .eTag();
              sent.add(CompletedPart.builder().partNumber(number).eTag(tag).build());
            }
            isSent = true;
            complete(object, upload, sent);
          } finally {
            if (!isSent) {
              abort(object, upload);
            }
          }
          return null;
        });
  }

  /**
   * Where its answer was lost a repeat finds no upload any more, or an object that is there:
   * whoever reads it back then sees which.
   */
  private void complete(String object, String upload, List<CompletedPart> parts) {
    try {
      client()
          .completeMultipartUpload(b ->
              b.bucket(settings.bucket())
                  .key(name(object))
                  .uploadId(upload)
                  .ifNoneMatch("*")
                  .multipartUpload(m -> m.parts(parts)));
    } catch (AwsServiceException e) {
      if (!S3Failures.isMissing(e) && !S3Failures.isConditionFailed(e)) {
        throw e;
      }
    }
  }

  private void abort(String object, String upload) {
    try {
      client()
          .abortMultipartUpload(
              b -> b.bucket(settings.bucket()).key(name(object)).uploadId(upload));
    } catch (SdkException e) {
      // A rule of the bucket removes what is left (spec/storage-s3.md).
    }
  }

  /** Opens an object, or the rest of it; empty where it is missing. */
  Optional<ResponseInputStream<GetObjectResponse>> get(
      String object, Consumer<GetObjectRequest.Builder> how) {
    return asking(
        "reading " + object,
        () -> {
          try {
            return Optional.of(
                client()
                    .getObject(b -> {
                      b.bucket(settings.bucket()).key(name(object));
                      how.accept(b);
                    }));
          } catch (AwsServiceException e) {
            if (S3Failures.isMissing(e)) {
              return Optional.empty();
            }
            throw e;
          }
        });
  }

  /** A small object as a whole, with its tag. */
  record Small(byte[] bytes, String tag) {
    /** Whether it is nothing, or a page of HTML or XML: what a proxy says in the store's place. */
    boolean isPage() {
      return bytes.length == 0 || bytes[0] == '<';
    }
  }

  Optional<Small> getSmall(String object, int bytesMax) {
    Optional<ResponseInputStream<GetObjectResponse>> found = get(object, _ -> {});
    if (found.isEmpty()) {
      return Optional.empty();
    }
    try (InputStream in = new S3ObjectStream(this, object, found.get())) {
      byte[] bytes = in.readNBytes(bytesMax);
      return Optional.of(new Small(bytes, found.get().response().eTag()));
    } catch (IOException e) {
      throw new WritException(
          ObjectStoreError.UNREACHABLE,
          "reading " + object + ": " + e.getClass().getSimpleName(),
          e);
    }
  }

  Optional<HeadObjectResponse> head(String object) {
    return head(object, Optional.empty());
  }

  /** Of a version, or of the latest one. */
  Optional<HeadObjectResponse> head(String object, Optional<String> version) {
    return asking(
        "looking at " + object,
        () -> {
          try {
            return Optional.of(
                client()
                    .headObject(b -> {
                      b.bucket(settings.bucket()).key(name(object));
                      version.ifPresent(b::versionId);
                    }));
          } catch (AwsServiceException e) {
            if (S3Failures.isMissing(e)) {
              return Optional.empty();
            }
            throw e;
          }
        });
  }

  void delete(String object) {
    asking(
        "removing " + object,
        () -> client().deleteObject(b -> b.bucket(settings.bucket()).key(name(object))));
  }

  /**
   * How the bucket locks: empty where it has no object lock.
   *
   * @param now which the store's clock is compared with
   * @throws WritException {@code OBJ-007}
   */
  Optional<ObjectLockConfiguration> locking(Instant now) {
    return asking(
        "reading the object lock of the bucket",
        () -> {
          try {
            GetObjectLockConfigurationResponse found =
                client().getObjectLockConfiguration(b -> b.bucket(settings.bucket()));
            S3Clock.require(found.sdkHttpResponse(), now);
            return Optional.ofNullable(found.objectLockConfiguration())
                .filter(one -> one.objectLockEnabled() == ObjectLockEnabled.ENABLED);
          } catch (AwsServiceException e) {
            if (S3Failures.isMissing(e) || S3Failures.isUnknown(e)) {
              return Optional.empty();
            }
            throw e;
          }
        });
  }

  /** Locks a version of an object, or for longer. */
  void retain(String object, String version, BundleLock.Until until) {
    ObjectLockRetention retention =
        ObjectLockRetention.builder()
            .mode(ObjectLockRetentionMode.fromValue(until.mode().toString()))
            .retainUntilDate(until.end())
            .build();
    asking(
        "locking " + object,
        () ->
            client()
                .putObjectRetention(b ->
                    b.bucket(settings.bucket())
                        .key(name(object))
                        .versionId(version)
                        .retention(retention)));
  }

  /**
   * Tries to remove a version of an object.
   *
   * @return whether the store did; else it refused
   */
  boolean deleteVersion(String object, String version) {
    return asking(
        "removing a version of " + object,
        () -> {
          try {
            client()
                .deleteObject(
                    b -> b.bucket(settings.bucket()).key(name(object)).versionId(version));
            return true;
          } catch (AwsServiceException e) {
            if (S3Failures.isForbidden(e)) {
              return false;
            }
            throw e;
          }
        });
  }

  /** A version of an object, by its name without the prefix of the address. */
  record Version(String object, String id) {}

  /** Visits all versions of objects that begin so, also of those that were removed since. */
  void listVersions(String beginning, Consumer<Version> visitor) {
    asking(
        "listing versions of " + beginning,
        () -> {
          String last = "";
          for (ListObjectVersionsResponse page :
              client()
                  .listObjectVersionsPaginator(
                      b -> b.bucket(settings.bucket()).prefix(name(beginning)))) {
            requireList(page.isTruncated(), beginning);
            for (ObjectVersion one : page.versions()) {
              requireAsked(one.key(), beginning);
              visitor.accept(
                  new Version(one.key().substring(settings.prefix().length()), one.versionId()));
            }
            last = requireOnward(last, page.nextKeyMarker(), page.nextVersionIdMarker(), beginning);
          }
          return null;
        });
  }

  /** Visits the names of objects that begin so, without the prefix of the address. */
  void list(String beginning, Consumer<String> visitor) {
    asking(
        "listing " + beginning,
        () -> {
          ListObjectsV2Request request =
              ListObjectsV2Request.builder()
                  .bucket(settings.bucket())
                  .prefix(name(beginning))
                  .build();
          String last = "";
          for (ListObjectsV2Response page : client().listObjectsV2Paginator(request)) {
            requireList(page.isTruncated(), beginning);
            for (S3Object object : page.contents()) {
              requireAsked(object.key(), beginning);
              visitor.accept(object.key().substring(settings.prefix().length()));
            }
            last = requireOnward(last, page.nextContinuationToken(), null, beginning);
          }
          return null;
        });
  }

  /** A proxy's own page would be a list of nothing; a list says whether more follows. */
  private static void requireList(Boolean isTruncated, String beginning) {
    if (isTruncated == null) {
      throw new WritException(
          ObjectStoreError.DIFFERS, "listing " + beginning + ": the answer is no list");
    }
  }

  /**
   * Requires that a page leads on.
   *
   * @param last what this gave for the page before
   */
  private static String requireOnward(
      String last, String marker, String version, String beginning) {
    String next =
        Objects.requireNonNullElse(marker, "") + "\n" + Objects.requireNonNullElse(version, "");
    if (!next.isBlank() && next.equals(last)) {
      throw new WritException(
          ObjectStoreError.REFUSED, "listing " + beginning + ": it gives one page for ever");
    }
    return next;
  }

  /** A proxy may give the answer to another question. */
  private void requireAsked(String key, String beginning) {
    if (key == null || !key.startsWith(name(beginning))) {
      throw new WritException(
          ObjectStoreError.DIFFERS, "listing " + beginning + ": it names what does not begin so");
    }
  }
}
