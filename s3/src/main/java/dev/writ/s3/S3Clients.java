package dev.writ.s3;

import dev.writ.canonicalize.WritException;
import dev.writ.s3.error.ObjectStoreError;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.S3Configuration;

/**
 * The clients of this process, one for each address. They are kept, since making one takes longer
 * than a takeover of a log may.
 */
final class S3Clients {
  private static final Duration CONNECTING = Duration.ofSeconds(5);
  private static final Duration SILENCE = Duration.ofSeconds(15);
  private static final Duration PAUSE_FIRST = Duration.ofMillis(50);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(2);

  /** More than fit into any patience; that ends them. */
  private static final int ATTEMPTS = 1000;

  private static final Map<S3Settings, Known> KNOWN = new ConcurrentHashMap<>();

  private S3Clients() {}

  /** A client, and what it heard last. */
  record Known(S3Client client, LastAnswer last) {}

  /**
   * @throws WritException {@code OBJ-003} where there are no credentials
   */
  static Known of(S3Settings settings) {
    return KNOWN.computeIfAbsent(settings, S3Clients::make);
  }

  private static Known make(S3Settings settings) {
    DefaultCredentialsProvider found = DefaultCredentialsProvider.builder().build();
    KeptCredentials credentials;
    try {
      credentials = new KeptCredentials(found);
    } catch (SdkException | IllegalArgumentException e) { // the latter of a file that is not whole
      found.close();
      throw new WritException(ObjectStoreError.CREDENTIALS, "none were found", e);
    }
    BackoffStrategy pauses = BackoffStrategy.exponentialDelay(PAUSE_FIRST, PAUSE_MAX);
    LastAnswer last = new LastAnswer();
    S3Client client =
        S3Client.builder()
            .region(Region.of(settings.region()))
            .credentialsProvider(credentials)
            .forcePathStyle(settings.isPathStyle())
            .applyMutation(b -> settings.endpoint().ifPresent(b::endpointOverride))
            .requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
            .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED)
            // Bodies are sent as they are, which every store takes.
            .serviceConfiguration(
                S3Configuration.builder()
                    .expectContinueEnabled(false)
                    .chunkedEncodingEnabled(false)
                    .build())
            .httpClient(
                UrlConnectionHttpClient.builder()
                    .connectionTimeout(CONNECTING)
                    .socketTimeout(SILENCE)
                    .build())
            .overrideConfiguration(o ->
                o.addExecutionInterceptor(last)
                    .apiCallTimeout(settings.patience())
                    .retryStrategy(
                        StandardRetryStrategy.builder()
                            .maxAttempts(ATTEMPTS)
                            .backoffStrategy(pauses)
                            .throttlingBackoffStrategy(pauses)
                            .circuitBreakerEnabled(false)
                            .build()))
            .build();
    return new Known(client, last);
  }
}
