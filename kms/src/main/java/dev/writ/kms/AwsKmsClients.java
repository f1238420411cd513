package dev.writ.kms;

import dev.writ.canonicalize.WritException;
import dev.writ.embed.error.SignerError;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.http.urlconnection.UrlConnectionHttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.retries.StandardRetryStrategy;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.services.kms.KmsClient;

/** The clients of this process, one for each region, endpoint and patience. */
final class AwsKmsClients {
  private static final Duration CONNECTING = Duration.ofSeconds(2);
  private static final Duration SILENCE = Duration.ofSeconds(5);
  private static final Duration PAUSE_FIRST = Duration.ofMillis(50);
  private static final Duration PAUSE_MAX = Duration.ofSeconds(2);

  /**
   * So many that answers that come at once are over before any patience is, and are told by their
   * code; silence ends with the patience.
   */
  private static final int ATTEMPTS = 5;

  private static final Map<Place, KmsClient> KNOWN = new ConcurrentHashMap<>();

  private AwsKmsClients() {}

  private record Place(String region, Optional<URI> endpoint, Duration patience) {}

  /**
   * @throws WritException {@code SGN-021} where there are no credentials
   */
  static KmsClient of(AwsKeyUri uri) {
    return KNOWN.computeIfAbsent(
        new Place(uri.region(), uri.endpoint(), uri.patience()), AwsKmsClients::make);
  }

  private static KmsClient make(Place place) {
    DefaultCredentialsProvider found = DefaultCredentialsProvider.builder().build();
    // Each request asks again: credentials of roles change, and may be gone later.
    AwsCredentialsProvider credentials = () -> resolved(found);
    try {
      credentials.resolveCredentials();
    } catch (WritException e) {
      found.close();
      throw e;
    }
    BackoffStrategy pauses = BackoffStrategy.exponentialDelay(PAUSE_FIRST, PAUSE_MAX);
    return KmsClient.builder()
        .region(Region.of(place.region()))
        .credentialsProvider(credentials)
        .applyMutation(b -> place.endpoint().ifPresent(b::endpointOverride))
        .httpClient(
            UrlConnectionHttpClient.builder()
                .connectionTimeout(CONNECTING)
                .socketTimeout(SILENCE)
                .build())
        .overrideConfiguration(o ->
            o.apiCallTimeout(place.patience())
                .retryStrategy(
                    StandardRetryStrategy.builder()
                        .maxAttempts(ATTEMPTS)
                        .backoffStrategy(pauses)
                        .throttlingBackoffStrategy(pauses)
                        .circuitBreakerEnabled(false)
                        .build()))
        .build();
  }

  private static AwsCredentials resolved(DefaultCredentialsProvider provider) {
    try {
      return provider.resolveCredentials();
    } catch (SdkException e) {
      throw new WritException(SignerError.SERVICE_CREDENTIALS, "none were found", e);
    }
  }
}
