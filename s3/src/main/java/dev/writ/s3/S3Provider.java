package dev.writ.s3;

import dev.writ.ledger.storage.LargeContents;
import dev.writ.ledger.storage.LargeContentsProvider;
import java.net.URI;

/** Knows addresses such as {@code s3://writ/acme?region=eu-central-1} (spec/storage-s3.md). */
public final class S3Provider implements LargeContentsProvider {
  @Override
  public String scheme() {
    return "s3";
  }

  @Override
  public LargeContents at(URI address) {
    return new S3Contents(S3Settings.parse(address.toString()));
  }
}
