package dev.writ.verify.bundle;

import dev.writ.canonicalize.Digest;
import dev.writ.canonicalize.WritException;
import dev.writ.verify.error.BundleError;
import dev.writ.verify.work.Ahead;
import java.security.MessageDigest;
import java.util.Optional;

/** Verifies the entries of a bundle's archive: their form, their checksums, the names of blobs. */
final class EntryCheck {
  private final Bundle bundle;
  private final VerifiedLines told;

  EntryCheck(Bundle bundle, VerifiedLines told) {
    this.bundle = bundle;
    this.told = told;
  }

  /** Hashes blobs; documents, manifests and files of tools are hashed when they are read. */
  void verify() {
    Archive archive = bundle.archive();
    int[] begun = {0};
    try (Ahead<Integer, Integer> pieces =
        new Ahead<>(
            () -> {
              int from = begun[0];
              begun[0] = Math.min(archive.entries(), from + BundleVerifier.PIECE);
              return from == begun[0] ? Optional.empty() : Optional.of(from);
            },
            this::piece)) {
      for (var done = pieces.next(); done.isPresent(); done = pieces.next()) {
        told.progress("entries", done.get(), archive.entries());
      }
    }
    told.verified(archive.entries() + " entries: in the one form, with their checksums");
  }

  /** Returns where it ends. */
  private int piece(int from) {
    Archive archive = bundle.archive();
    int to = Math.min(archive.entries(), from + BundleVerifier.PIECE);
    ForwardReader window = archive.window();
    Optional<Archive.Hash> hash = Optional.of(new BlobHash());
    for (int entry = from; entry < to; entry++) {
      archive.verify(entry, archive.isBlob(entry) ? hash : Optional.empty(), window);
    }
    return to;
  }

  /** Compares a blob's digest with its name. */
  private record BlobHash(MessageDigest hash) implements Archive.Hash {
    BlobHash() {
      this(Digest.newSha256());
    }

    @Override
    public void update(byte[] bytes, int from, int length) {
      hash.update(bytes, from, length);
    }

    @Override
    public void end(String name) {
      Digest found = Digest.ofBytes(hash.digest());
      if (!BundleEntryNames.blob(found).equals(name)) {
        throw new WritException(
            BundleError.ENTRY_DIGEST, name + " has the content of " + BundleEntryNames.blob(found));
      }
    }
  }
}
