package dev.writ.ledger;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.canonicalize.disk.DurableFiles;
import dev.writ.ledger.error.LedgerError;
import dev.writ.ledger.storage.SharedAnchor;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;

/** The anchor of this home, and the one that all gateways share, where there is one. */
final class Anchors {
  /** How often a lost race is looked at again; each time somebody else has won one. */
  private static final int ATTEMPTS = 5;

  private static final List<ErrorCode> LEADS_ELSEWHERE =
      List.of(LedgerError.ANCHOR_BEHIND, LedgerError.ANCHOR_OTHER);

  private final DurableFiles files;
  private final Path file;
  private final Optional<SharedAnchor> shared;

  Anchors(DurableFiles files, Path file, Optional<SharedAnchor> shared) {
    this.files = files;
    this.file = file;
    this.shared = shared;
  }

  Optional<Anchor> own() {
    return Anchor.read(file);
  }

  boolean isShared() {
    return shared.isPresent();
  }

  /**
   * Reads the shared one.
   *
   * @throws WritException {@code LED-012} for another form than ours
   */
  Optional<Anchor> readShared() {
    return shared
        .flatMap(SharedAnchor::read)
        .map(bytes -> Anchor.parse(bytes, "the shared anchor"));
  }

  /** Writes this home's. */
  void writeOwn(Anchor anchor) {
    anchor.write(files, file);
  }

  /**
   * Moves the shared one, if there is one. Where somebody else has moved it this writer goes on if
   * the log continues what is there now: a former owner's last state. Else it is behind, and
   * refused.
   *
   * @param requireContinued throws where the log does not continue an anchor
   * @throws WritException {@code LED-086} where another writer has moved it
   */
  void moveShared(Anchor anchor, Consumer<Anchor> requireContinued) {
    if (shared.isEmpty()) {
      return;
    }
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
      if (shared.get().move(anchor.toBytes())) {
        return;
      }
      Anchor there =
          readShared()
              .orElseThrow(
                  () -> new WritException(LedgerError.ANCHOR_MISSING, "the shared anchor"));
      try {
        requireContinued.accept(there);
      } catch (WritException e) {
        // A log that cannot be read just now says nothing of the anchor.
        throw LEADS_ELSEWHERE.contains(e.code())
            ? new WritException(LedgerError.ANCHOR_MOVED, e.found(), e)
            : e;
      }
    }
    throw new WritException(LedgerError.ANCHOR_MOVED, "again and again");
  }
}
