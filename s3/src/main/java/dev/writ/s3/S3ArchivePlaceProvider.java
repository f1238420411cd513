package dev.writ.s3;

import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.archive.ArchivePlaceProvider;

/** Knows addresses such as {@code s3://writ-archive/acme?region=eu-central-1}. */
public final class S3ArchivePlaceProvider implements ArchivePlaceProvider {
  @Override
  public String scheme() {
    return "s3";
  }

  @Override
  public ArchivePlace at(String address) {
    return new S3ArchivePlace(address);
  }
}
