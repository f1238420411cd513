package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.error.ObjectStoreError;
import java.util.OptionalInt;
import java.util.Set;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

/**
 * Translates what the client throws. Of what the store says only its code is shown: its texts may
 * repeat what was sent.
 */
final class S3Failures {
  private static final int REDIRECT = 301;
  private static final int FORBIDDEN = 403;
  private static final int NOT_FOUND = 404;
  private static final int NOT_ALLOWED = 405;
  private static final int CONFLICT = 409;
  private static final int CONDITION_FAILED = 412;
  private static final int TOO_MANY = 429;
  private static final int SERVER = 500;
  private static final int NOT_IMPLEMENTED = 501;

  private static final Set<String> CREDENTIALS =
      Set.of(
          "InvalidAccessKeyId",
          "SignatureDoesNotMatch",
          "ExpiredToken",
          "InvalidToken",
          "TokenRefreshRequired");
  private static final Set<String> REGION =
      Set.of(
          "PermanentRedirect",
          "AuthorizationHeaderMalformed",
          "IllegalLocationConstraintException");
  private static final Set<String> CLOCK = Set.of("RequestTimeTooSkewed", "RequestExpired");
  private static final Set<String> CHANGED =
      Set.of(
          "BadDigest",
          "InvalidDigest",
          "IncompleteBody",
          "XAmzContentSHA256Mismatch",
          "XAmzContentChecksumMismatch");

  private S3Failures() {}

  /**
   * @param last the status of the last answer that this thread had
   */
  static WritException of(String doing, SdkException e, OptionalInt last) {
    if (e instanceof AwsServiceException refusal) {
      String said = code(refusal);
      return new WritException(
          code(said, refusal.statusCode()),
          doing + ": it answered " + refusal.statusCode() + (said.isEmpty() ? "" : " " + said),
          e);
    }
    // Of answers 403 the client repeats those alone that say that its clock is wrong.
    boolean isClock = e instanceof ApiCallTimeoutException && last.orElse(0) == FORBIDDEN;
    String answered = last.isPresent() ? ", and it answered " + last.getAsInt() + " last" : "";
    return new WritException(
        isClock ? ObjectStoreError.CLOCK : ObjectStoreError.UNREACHABLE,
        doing + ": " + cause(e) + answered,
        e);
  }

  private static ObjectStoreError code(String said, int status) {
    if (said.equals("NoSuchBucket")) {
      return ObjectStoreError.BUCKET_MISSING;
    }
    if (CREDENTIALS.contains(said)) {
      return ObjectStoreError.CREDENTIALS;
    }
    if (REGION.contains(said) || status == REDIRECT) {
      return ObjectStoreError.REGION;
    }
    if (CLOCK.contains(said)) {
      return ObjectStoreError.CLOCK;
    }
    if (CHANGED.contains(said) || status == CONDITION_FAILED) {
      return ObjectStoreError.DIFFERS;
    }
    if (status == FORBIDDEN) {
      return ObjectStoreError.RIGHTS;
    }
    return status >= SERVER || status == TOO_MANY
        ? ObjectStoreError.UNREACHABLE
        : ObjectStoreError.REFUSED;
  }

  private static String code(AwsServiceException e) {
    String code = e.awsErrorDetails() == null ? null : e.awsErrorDetails().errorCode();
    return code == null || !code.matches("[A-Za-z0-9.]{1,64}") ? "" : code;
  }

  private static String cause(Throwable e) {
    Throwable last = e;
    while (last.getCause() != null) {
      last = last.getCause();
    }
    return last.getClass().getSimpleName();
  }

  /** Whether the object is missing; not where the bucket is. */
  static boolean isMissing(AwsServiceException e) {
    return e.statusCode() == NOT_FOUND && !code(e).equals("NoSuchBucket");
  }

  static boolean isConditionFailed(AwsServiceException e) {
    return e.statusCode() == CONDITION_FAILED;
  }

  /** Whether the store has no such request at all. */
  static boolean isUnknown(AwsServiceException e) {
    return e.statusCode() == NOT_ALLOWED || e.statusCode() == NOT_IMPLEMENTED;
  }

  static boolean isForbidden(AwsServiceException e) {
    return e.statusCode() == FORBIDDEN && !CREDENTIALS.contains(code(e));
  }

  /** Whether another write of the same object was under way: it is tried again. */
  static boolean isConflict(AwsServiceException e) {
    return e.statusCode() == CONFLICT && code(e).equals("ConditionalRequestConflict");
  }
}
