package dev.writ.ledger.archive;

import dev.writ.canonicalize.WritException;
import dev.writ.ledger.error.LedgerError;
import java.net.URI;
import java.nio.file.Path;
import java.util.ServiceLoader;

/** Knows the archives of one kind by their addresses; found as a service. */
public interface ArchivePlaceProvider {

  /** What its addresses begin with, such as {@code s3}. */
  String scheme();

  /**
   * The archive at an address. Nothing is asked of it yet.
   *
   * @throws WritException where the address cannot be meant, or has a secret in it
   */
  ArchivePlace at(String address);

  /**
   * The archive at an address.
   *
   * @param address {@code file:///PATH}, the path of a folder, or one of a kind that is known
   * @throws WritException {@code LED-092} where nobody knows it, and as {@link #at}
   */
  static ArchivePlace find(String address) {
    int end = address.indexOf("://");
    if (end < 0) {
      return new ArchiveFolder(Path.of(address));
    }
    String scheme = address.substring(0, end);
    if (scheme.equals(ArchiveFolder.SCHEME)) {
      return new ArchiveFolder(path(address));
    }
    for (ArchivePlaceProvider provider : ServiceLoader.load(ArchivePlaceProvider.class)) {
      if (provider.scheme().equals(scheme)) {
        return provider.at(address);
      }
    }
    throw new WritException(LedgerError.ARCHIVE_UNKNOWN, scheme + "://…");
  }

  private static Path path(String address) {
    try {
      return Path.of(URI.create(address));
    } catch (IllegalArgumentException e) {
      throw new WritException(LedgerError.ARCHIVE_UNKNOWN, address + " names no folder", e);
    }
  }
}
