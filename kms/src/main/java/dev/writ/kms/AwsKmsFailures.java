package dev.writ.kms;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import java.io.IOException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.util.Map;
import java.util.TreeMap;
import javax.net.ssl.SSLException;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.ApiCallTimeoutException;
import software.amazon.awssdk.core.exception.SdkException;

/** Translates what the client throws. Of what the service says only its code is shown. */
final class AwsKmsFailures {
  private static final int SERVER = 500;
  private static final int TOO_MANY = 429;

  private static final Map<String, SignerError> CODES =
      new TreeMap<>(
          Map.ofEntries(
              Map.entry("UnrecognizedClientException", SignerError.SERVICE_CREDENTIALS),
              Map.entry("InvalidClientTokenId", SignerError.SERVICE_CREDENTIALS),
              Map.entry("InvalidSignatureException", SignerError.SERVICE_CREDENTIALS),
              Map.entry("SignatureDoesNotMatch", SignerError.SERVICE_CREDENTIALS),
              Map.entry("IncompleteSignatureException", SignerError.SERVICE_CREDENTIALS),
              Map.entry("MissingAuthenticationTokenException", SignerError.SERVICE_CREDENTIALS),
              Map.entry("ExpiredTokenException", SignerError.SERVICE_CREDENTIALS),
              Map.entry("RequestExpired", SignerError.SERVICE_CREDENTIALS),
              Map.entry("AccessDeniedException", SignerError.SERVICE_DENIED),
              Map.entry("NotFoundException", SignerError.SERVICE_KEY_ABSENT),
              Map.entry("InvalidArnException", SignerError.SERVICE_KEY_ABSENT),
              Map.entry("DisabledException", SignerError.SERVICE_KEY_STATE),
              Map.entry("KMSInvalidStateException", SignerError.SERVICE_KEY_STATE),
              Map.entry("InvalidKeyUsageException", SignerError.SERVICE_KEY_KIND),
              Map.entry("UnsupportedOperationException", SignerError.SERVICE_KEY_KIND),
              Map.entry("ThrottlingException", SignerError.SERVICE_BUSY),
              Map.entry("LimitExceededException", SignerError.SERVICE_BUSY),
              Map.entry("KeyUnavailableException", SignerError.SERVICE_UNREACHABLE),
              Map.entry("KMSInternalException", SignerError.SERVICE_UNREACHABLE),
              Map.entry("DependencyTimeoutException", SignerError.SERVICE_UNREACHABLE)));

  private AwsKmsFailures() {}

  static WritException of(String arn, SdkException e) {
    if (e instanceof AwsServiceException refusal) {
      String said =
          refusal.awsErrorDetails() == null || refusal.awsErrorDetails().errorCode() == null
              ? ""
              : refusal.awsErrorDetails().errorCode();
      return new WritException(
          code(said, refusal.statusCode()),
          arn + ": it answered " + refusal.statusCode() + (said.isEmpty() ? "" : " " + said),
          e);
    }
    for (Throwable outer = e; outer != null; outer = outer.getCause()) {
      if (outer instanceof WritException told) {
        return told; // of the credentials, for which the client asks on its way
      }
    }
    Throwable cause = innermost(e);
    boolean isOfTheWay =
        e instanceof ApiCallTimeoutException
            || cause instanceof SocketException
            || cause instanceof SocketTimeoutException
            || cause instanceof UnknownHostException
            || cause instanceof SSLException
            || cause.getClass() == IOException.class; // what parsers throw extends it
    return new WritException(
        isOfTheWay ? SignerError.SERVICE_UNREACHABLE : SignerError.SERVICE_ANSWER,
        arn + ": " + cause.getClass().getSimpleName(),
        e);
  }

  private static SignerError code(String said, int status) {
    SignerError known = CODES.get(said);
    if (known != null) {
      return known;
    }
    if (status == TOO_MANY) {
      return SignerError.SERVICE_BUSY;
    }
    return status >= SERVER ? SignerError.SERVICE_UNREACHABLE : SignerError.SERVICE_ANSWER;
  }

  private static Throwable innermost(Throwable e) {
    Throwable inner = e;
    while (inner.getCause() != null) {
      inner = inner.getCause();
    }
    return inner;
  }
}
