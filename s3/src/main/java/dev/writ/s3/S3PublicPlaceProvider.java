package dev.writ.s3;

import dev.writ.ledger.publish.PublicPlace;
import dev.writ.ledger.publish.PublicPlaceProvider;
import java.net.URI;

/** Knows addresses such as {@code s3://public/log?region=eu-central-1} (spec/storage-s3.md). */
public final class S3PublicPlaceProvider implements PublicPlaceProvider {
  @Override
  public String scheme() {
    return "s3";
  }

  @Override
  public PublicPlace at(URI address) {
    return new S3PublicPlace(S3Settings.parse(address.toString()));
  }
}
