package dev.writ.kms;

import dev.writ.embed.signer.KeyServiceProvider;
import dev.writ.embed.signer.RemoteKey;

/** The keys of AWS KMS. */
public final class AwsKeyProvider implements KeyServiceProvider {
  @Override
  public String prefix() {
    return AwsKeyUri.PREFIX;
  }

  @Override
  public RemoteKey open(String uri) {
    AwsKeyUri read = AwsKeyUri.parse(uri);
    return AwsKey.open(AwsKmsClients.of(read), read);
  }
}
