package dev.writ.surfaces.text;

import dev.writ.canonicalize.ErrorCode;
import dev.writ.canonicalize.WritException;
import dev.writ.guardian.document.Content;
import dev.writ.ledger.error.LedgerError;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/** Where the content of outputs is read. */
@FunctionalInterface
public interface ContentSource {
  /** Of a content that is stored and that nobody can be given, however often it is tried. */
  List<ErrorCode> UNREADABLE =
      List.of(
          LedgerError.BLOB_MISSING,
          LedgerError.BLOB_CORRUPT,
          LedgerError.BLOB_TOO_LARGE,
          LedgerError.KEY_MISSING,
          LedgerError.SEAL_WRONG);

  /**
   * A tenant's content, verified by its digest; empty if it is not stored.
   *
   * @param bytesMax larger content is refused
   */
  Optional<byte[]> content(String tenant, Content content, long bytesMax);

  /**
   * The same for whoever tells what happened, and would tell nothing of what came later: what is
   * lost, sealed under a key that is not here, or too large counts as not stored.
   */
  default ContentSource asFarAsReadable() {
    return (tenant, content, bytesMax) -> readable(() -> content(tenant, content, bytesMax));
  }

  /** What is read, or nothing where it is {@link #UNREADABLE}. */
  static Optional<byte[]> readable(Supplier<Optional<byte[]>> reading) {
    try {
      return reading.get();
    } catch (WritException e) {
      if (UNREADABLE.contains(e.code())) {
        return Optional.empty();
      }
      throw e;
    }
  }
}
