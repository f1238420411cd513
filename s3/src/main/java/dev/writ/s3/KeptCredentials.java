package dev.writ.s3;

import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;

/**
 * The credentials as they are now, or where they cannot be read just now, such as in a file that
 * somebody is writing, those that were read last: whether they count any more the store says.
 */
final class KeptCredentials implements AwsCredentialsProvider {
  private final AwsCredentialsProvider source;
  private volatile AwsCredentials last;

  /**
   * @throws RuntimeException of the source, where it has none
   */
  KeptCredentials(AwsCredentialsProvider source) {
    this.source = source;
    this.last = source.resolveCredentials();
  }

  @Override
  public AwsCredentials resolveCredentials() {
    try {
      last = source.resolveCredentials();
    } catch (RuntimeException e) { // the client's own, or a file's that is not whole
      return last;
    }
    return last;
  }
}
