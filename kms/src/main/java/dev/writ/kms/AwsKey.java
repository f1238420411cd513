package dev.writ.kms;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.crypto.Algorithm;
import dev.writ.canonicalize.crypto.Es256Signatures;
import dev.writ.canonicalize.crypto.VerifyingKey;
import dev.writ.embed.error.SignerError;
import dev.writ.embed.signer.RemoteKey;
import java.util.Optional;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.kms.KmsClient;
import software.amazon.awssdk.services.kms.model.GetPublicKeyResponse;
import software.amazon.awssdk.services.kms.model.KeyUsageType;
import software.amazon.awssdk.services.kms.model.MessageType;
import software.amazon.awssdk.services.kms.model.SignRequest;
import software.amazon.awssdk.services.kms.model.SignResponse;

/** A key of AWS KMS. */
final class AwsKey implements RemoteKey {
  private static final String ECDSA_SHA_256 = "ECDSA_SHA_256";

  /** Pure Ed25519 (RFC 8032): of messages of the type RAW. */
  private static final String ED25519_SHA_512 = "ED25519_SHA_512";

  /** What KMS takes of the type RAW. */
  private static final int RAW_BYTES_MAX = 4096;

  private final KmsClient client;
  private final AwsKeyUri uri;
  private final VerifyingKey publicHalf;

  private AwsKey(KmsClient client, AwsKeyUri uri, VerifyingKey publicHalf) {
    this.client = client;
    this.uri = uri;
    this.publicHalf = publicHalf;
  }

  /**
   * @throws WritException {@code SGN-021} to {@code SGN-029}
   */
  static AwsKey open(KmsClient client, AwsKeyUri uri) {
    GetPublicKeyResponse answer;
    try {
      answer = client.getPublicKey(request -> request.keyId(uri.arn()));
    } catch (SdkException e) {
      throw AwsKmsFailures.of(uri.arn(), e);
    }
    if (answer.publicKey() == null) {
      throw new WritException(SignerError.SERVICE_ANSWER, uri.arn() + ": no public key");
    }
    Optional<VerifyingKey> key =
        answer.keyUsage() == KeyUsageType.SIGN_VERIFY
            ? read(uri, answer.publicKey().asByteArray())
            : Optional.empty();
    return new AwsKey(
        client,
        uri,
        key.orElseThrow(() ->
            new WritException(
                SignerError.SERVICE_KEY_KIND,
                uri.arn()
                    + " is of "
                    + answer.keySpecAsString()
                    + ", for "
                    + answer.keyUsageAsString())));
  }

  private static Optional<VerifyingKey> read(AwsKeyUri uri, byte[] subjectPublicKeyInfo) {
    try {
      return VerifyingKey.ofSubjectPublicKeyInfo(subjectPublicKeyInfo);
    } catch (WritException e) {
      throw new WritException(
          SignerError.SERVICE_ANSWER, uri.arn() + ": " + e.code().code() + " " + e.getMessage(), e);
    }
  }

  @Override
  public VerifyingKey publicHalf() {
    return publicHalf;
  }

  @Override
  public byte[] sign(byte[] message) {
    boolean isEs256 = publicHalf.algorithm() == Algorithm.ES256;
    if (!isEs256 && message.length > RAW_BYTES_MAX) {
      throw new WritException(
          SignerError.SERVICE_TOO_LONG,
          message.length + " bytes to sign, " + RAW_BYTES_MAX + " are taken");
    }
    SignRequest.Builder request = SignRequest.builder().keyId(uri.arn());
    if (isEs256) {
      request
          .signingAlgorithm(ECDSA_SHA_256)
          .messageType(MessageType.DIGEST)
          .message(SdkBytes.fromByteArray(Digest.sha256(message).bytes()));
    } else {
      request
          .signingAlgorithm(ED25519_SHA_512)
          .messageType(MessageType.RAW)
          .message(SdkBytes.fromByteArray(message));
    }
    SignResponse answer;
    try {
      answer = client.sign(request.build());
    } catch (SdkException e) {
      throw AwsKmsFailures.of(uri.arn(), e);
    }
    byte[] given = answer.signature() == null ? new byte[0] : answer.signature().asByteArray();
    return isEs256
        ? Es256Signatures.ofDer(given)
            .orElseThrow(() ->
                new WritException(
                    SignerError.SERVICE_ANSWER,
                    uri.arn() + ": " + given.length + " bytes that are no ECDSA signature"))
        : given;
  }
}
