package dev.writ.verify.archive;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.executor.error.ExecutorError;
import dev.writ.executor.retention.ArchivedContents;
import dev.writ.ledger.archive.ArchivePlace;
import dev.writ.ledger.error.LedgerError;
import dev.writ.verify.bundle.Bundle;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.Optional;

/** Reads bundles of archived runs, and never takes one for another. */
public final class ArchiveReader implements ArchivedContents {
  private static final int PIECE_BYTES = 1 << 16;

  private final ArchivePlace place;

  public ArchiveReader(ArchivePlace place) {
    this.place = place;
  }

  /**
   * The bundle of that digest, whose bytes were all compared with it.
   *
   * @throws WritException {@code EXE-947} where it is not there, {@code EXE-948} where its file has
   *     other bytes, {@code LED-093}, {@code LED-094}
   */
  public ArchivePlace.Fetched fetch(Digest bundle) {
    ArchivePlace.Fetched fetched = present(bundle);
    try {
      Digest found = digest(fetched.file());
      if (!found.equals(bundle)) {
        throw new WritException(
            ExecutorError.BUNDLE_DIFFERS, bundle + " in " + place.address() + " is " + found);
      }
      return fetched;
    } catch (RuntimeException e) {
      fetched.close();
      throw e;
    }
  }

  private ArchivePlace.Fetched present(Digest bundle) {
    place.require();
    return place
        .fetch(bundle)
        .orElseThrow(() ->
            new WritException(ExecutorError.BUNDLE_MISSING, bundle + " in " + place.address()));
  }

  /** Of a file's bytes. */
  static Digest digest(Path file) {
    MessageDigest hash = Digest.newSha256();
    try (InputStream in = Files.newInputStream(file)) {
      byte[] piece = new byte[PIECE_BYTES];
      for (int n = in.read(piece); n >= 0; n = in.read(piece)) {
        hash.update(piece, 0, n);
      }
      return Digest.ofBytes(hash.digest());
    } catch (IOException e) {
      throw new WritException(LedgerError.ARCHIVE_FAILED, file + ": " + e.getMessage(), e);
    }
  }

  /**
   * {@inheritDoc}
   *
   * <p>Of the bundle no more is read than is needed to find the content.
   */
  @Override
  public Optional<InputStream> open(Digest bundle, Digest content) {
    ArchivePlace.Fetched fetched = present(bundle);
    try {
      Bundle open = Bundle.open(fetched.file());
      try {
        InputStream in =
            open.openBlob(content)
                .orElseThrow(() ->
                    new WritException(
                        ExecutorError.BUNDLE_DIFFERS,
                        bundle + " in " + place.address() + " does not have " + content));
        return Optional.of(new Closing(in, open, fetched));
      } catch (RuntimeException e) {
        open.close();
        throw e;
      }
    } catch (WritException e) {
      fetched.close();
      throw e.code() instanceof ExecutorError || e.code() instanceof LedgerError
          ? e
          : new WritException(
              ExecutorError.BUNDLE_DIFFERS,
              bundle + " in " + place.address() + ": " + e.getMessage(),
              e);
    }
  }

  /** Closes the bundle behind a content. */
  private static final class Closing extends FilterInputStream {
    private final Bundle bundle;
    private final ArchivePlace.Fetched fetched;

    Closing(InputStream in, Bundle bundle, ArchivePlace.Fetched fetched) {
      super(in);
      this.bundle = bundle;
      this.fetched = fetched;
    }

    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
      return in.read(into, offset, length);
    }

    @Override
    public void close() throws IOException {
      super.close();
      bundle.close();
      fetched.close();
    }
  }
}
